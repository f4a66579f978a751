/** The rules of html-validate for mails and pages: all recommended ones except a few. */
import type { ConfigData } from 'html-validate'

export const HTML_RULES: ConfigData = {
  extends: ['html-validate:recommended', 'html-validate:standard', 'html-validate:a11y'],
  elements: ['html5'],
  rules: {
    // Mail programs drop style sheets, so important styles stand on the elements.
    'no-inline-style': 'off',
    // Outlook for Windows reads widths and colours of tables only from attributes.
    'no-deprecated-attr': 'off',
    // Outlook for Windows gets its own tables by these comments.
    'no-conditional-comment': 'off',
    // Webmails remove HTML5 elements, but keep the attribute `role`.
    'prefer-native-element': 'off',
    // Older screen readers do not know the synonym `none`.
    'presentation-role-style': 'off',
    // The title is the subject, whose length has its own limit.
    'long-title': 'off',
  },
}

export const PAGE_RULES: ConfigData = {
  extends: ['html-validate:recommended', 'html-validate:standard', 'html-validate:a11y'],
  elements: ['html5'],
  rules: {
    // The title of an archived report is the subject of its mail.
    'long-title': 'off',
    // A button of a form submits it by default, which is intended here.
    'no-implicit-button-type': 'off',
    // A sideways scrolling table has a name for users of a keyboard, but it is no section of the page.
    'prefer-native-element': ['error', { exclude: ['region'] }],
  },
}
