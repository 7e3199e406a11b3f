// Whether the page's styles use only what the browsers of .browserslistrc have.

const RULE = 'plugin/no-unsupported-browser-features';

export default {
  plugins: ['stylelint-no-unsupported-browser-features'],
  reportNeedlessDisables: true,
  rules: {
    [RULE]: [
      true,
      {
        ignorePartialSupport: true,
        ignore: [
          // Other fonts follow it in each list.
          'extended-system-fonts',
          // Browsers without them have no use for them: phones show no cursor, and resize no field;
          // Safari on a desktop has no touch screen.
          'css-resize',
          'css-touch-action',
          'css3-cursors-grab',
        ],
      },
    ],
  },
};
