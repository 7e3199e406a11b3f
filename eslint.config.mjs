// Whether the page's scripts use only what the browsers of .browserslistrc have.

import { createRequire } from 'node:module';

const tools = createRequire(new URL('target/tools/', import.meta.url));
const baseline = tools('eslint-plugin-baseline-js').default;
const compat = tools('eslint-plugin-compat');

export default [
  compat.configs['flat/recommended'],
  {
    plugins: { baseline },
    rules: {
      // It knows syntax and static methods, by year: all browsers of the list are younger than this one.
      'baseline/use-baseline': [
        'error',
        {
          available: 2022,
          includeWebApis: { preset: 'auto' },
          includeJsBuiltins: { preset: 'auto' },
          // dom.mjs has another way to copy.
          ignoreFeatures: ['async-clipboard'],
        },
      ],
    },
  },
];
