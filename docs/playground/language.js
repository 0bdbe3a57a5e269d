// Triton-C for the editor: colours, brackets, comments and the depth of a new line.

import { StreamLanguage } from "@codemirror/language";

const WORDS = /^(if|else|for|while|do|break|continue|return|typedef|enum|const|static|inline|extern|restrict|sizeof|newaxis|bitcast)$/;
const TYPES =
  /^(void|bool|_Bool|char|short|int|long|half|float|double|bfloat16|signed|unsigned|u?int(8|16|32|64)|__\w+__|__(noalias|readonly|writeonly|aligned|multipleof|retune))$/;

export const tritonC = StreamLanguage.define({
  name: "triton-c",
  startState: () => ({ comment: false, depth: 0 }),
  token(stream, state) {
    if (state.comment || stream.match("/*")) {
      state.comment = !stream.skipTo("*/");
      if (state.comment) stream.skipToEnd();
      else stream.match("*/");
      return "comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.match("//")) return stream.skipToEnd(), "comment";
    if (stream.match(/^#\s*\w*/)) return "meta";
    if (stream.match(/^"[^"]*"?|^'[^']*'?/)) return "string";
    if (stream.match("...")) return "operator";
    if (stream.match(/^0[xX][\da-fA-F]+\w*|^\d+\.(?!\.)\d*([eE][+-]?\d+)?\w*|^\.\d+([eE][+-]?\d+)?\w*|^\d+([eE][+-]?\d+)?[a-zA-Z]*/)) return "number";
    const name = stream.match(/^\w+/);
    if (name) return WORDS.test(name[0]) ? "keyword" : TYPES.test(name[0]) ? "typeName" : stream.match(/^\s*\(/, false) ? "variableName.definition" : "variableName";
    const char = stream.next();
    if (char === "{") state.depth += 1;
    if (char === "}") state.depth -= 1;
    return /[-+*/%=<>!&|^~?:@]/.test(char) ? "operator" : null;
  },
  indent: (state, after, context) => Math.max(0, state.depth - /^\s*\}/.test(after)) * context.unit,
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } }, indentOnInput: /^\s*\}$/ },
});
