// Starts `pytriton lsp` and connects the editor to it. Everything else is in pytriton/lsp.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const [command, ...args] = workspace.getConfiguration("pytriton").get("command");
  const documentSelector = ["triton-c", "c", "python"].map((language) => ({ scheme: "file", language }));
  client = new LanguageClient("pytriton", "pytriton", { command, args }, { documentSelector });
  return client.start();
};

exports.deactivate = () => client?.stop();
