// For the player and the book: npx eslint@9 --config .ci/eslint.config.mjs autodiff_edu/player/js book tests/live
import { createRequire } from "node:module";

// ESLint brings its recommended rules along; they are looked up from where it is itself, for nothing is installed here.
const js = createRequire(process.argv[1])("@eslint/js");

// What the modules use of the browser; a name that is missing here is more often a slip than a new need.
const browser = [
  ...["addEventListener", "cancelAnimationFrame", "clearInterval", "clearTimeout", "document", "getComputedStyle", "getSelection", "location"],
  ...["matchMedia", "performance", "reportError", "requestAnimationFrame", "ResizeObserver", "setInterval"],
  ...["setTimeout", "URLSearchParams"],
  ...["atob", "CustomEvent", "DecompressionStream", "Response", "TextDecoder"],
  ...["clearTimeout", "setTimeout"],
  ...["Blob", "localStorage", "self", "URL", "WebAssembly", "Worker"], // the live pages
  ...["btoa", "CompressionStream", "crypto", "fetch", "history", "innerHeight", "MessageChannel", "MessageEvent"],
  ...["MutationObserver", "navigator", "parent", "removeEventListener", "TextEncoder"],
];
const node = ["process"];

export default [
  js.configs.recommended,
  {
    files: ["**/*.js", "**/*.mjs"],
    languageOptions: { sourceType: "module", globals: Object.fromEntries(browser.map((name) => [name, "readonly"])) },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "eqeqeq": ["error", "always", { null: "ignore" }],
      "max-len": ["error", { code: 120 }],
      "no-shadow": "error",
      "no-undef": "error",
      "no-unused-vars": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": ["error", { destructuring: "all" }],
    },
  },
  {
    files: ["**/*.mjs"],
    languageOptions: { globals: Object.fromEntries(node.map((name) => [name, "readonly"])) },
  },
];
