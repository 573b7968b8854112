// A page includes the scripts of a folder one behind the other, in one scope: what one of them
// declares at its top level the others may use, and what none of them uses is unused.
const fs = require("node:fs");
const path = require("node:path");
const js = require("@eslint/js");
const globals = require("globals");

const scriptsOf = (folder) => fs.readdirSync(folder).filter((name) => name.endsWith(".js")).map((name) => {
  const text = fs.readFileSync(path.join(folder, name), "utf8");
  const declared = [...text.matchAll(/^(?:const|let|class|(?:async )?function) (\w+)/gm)].map((match) => match[1]);
  return { name: `${path.basename(folder)}/${name}`, text, declared };
});

const config = ({ name, declared }, _, scripts) => {
  const others = scripts.filter((other) => other.name !== name);
  const used = declared.filter((word) => others.some(({ text }) => new RegExp(`\\b${word}\\b`).test(text)));
  return {
    files: [`**/${name}`],
    ...js.configs.recommended,
    languageOptions: {
      sourceType: "script",
      globals: { ...globals.browser,
        ...Object.fromEntries(others.flatMap((other) => other.declared.map((word) => [word, "readonly"]))) },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      ...js.configs.recommended.rules,
      "no-unused-vars": ["error", { varsIgnorePattern: `^(${used.join("|")})$`, argsIgnorePattern: "^_$" }],
      complexity: ["error", 12],
      "max-lines": ["error", 350],
      "max-len": ["error", 120],
      "max-lines-per-function": ["error", 60],
      "prefer-const": "error",
      "no-var": "error",
      "no-shadow": "error",
      "no-nested-ternary": "error",
      eqeqeq: "error",
    },
  };
};

module.exports = ["../ir_std/reporting/html/templates", "../docs/_static"].flatMap(
  (folder) => scriptsOf(path.join(__dirname, folder)).map(config),
);
