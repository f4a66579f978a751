/** The rules of html-validate that hold for mails and for pages: all that are recommended but a few. */
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

export const PAGE_RULES: ConfigData = {
  extends: ['html-validate:recommended', 'html-validate:standard', 'html-validate:a11y'],
  elements: ['html5'],
  rules: {
    // The title of a page of the archive is the subject of a mail.
    'long-title': 'off',
    // A button of a form sends it, unless something else is said.
    'no-implicit-button-type': 'off',
    // What scrolls sideways has a name for who comes to it by keyboard, and is no section of the page.
    'prefer-native-element': ['error', { exclude: ['region'] }],
  },
}
