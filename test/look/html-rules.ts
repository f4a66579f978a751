/** The rules of html-validate that hold for a mail: all that are recommended but a few. */
import type { ConfigData } from 'html-validate'

export const HTML_RULES: ConfigData = {
  extends: ['html-validate:recommended', 'html-validate:standard', 'html-validate:a11y'],
  elements: ['html5'],
  rules: {
    // Mail programs drop style sheets; what must be seen stands on the elements.
    'no-inline-style': 'off',
    // Outlook for Windows knows widths and colours of tables as attributes only.
    'no-deprecated-attr': 'off',
    // Outlook for Windows is told of its own tables so.
    'no-conditional-comment': 'off',
    // Webmails take HTML5 elements away; a role stays.
    'prefer-native-element': 'off',
    // The same as `none`, which older screen readers do not know.
    'presentation-role-style': 'off',
    // The title is the subject, which has a limit of its own.
    'long-title': 'off',
  },
}
