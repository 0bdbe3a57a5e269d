// A program as the part of a link after #, and back: JSON, deflated, in base64 for links. What comes out of a link is
// only ever text: its shape and size are checked here, and the page shows it as text.

const MAX_LINK = 200_000; // characters of a link
const MAX_TEXT = 400_000; // characters of its JSON

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function toLink(program) {
  const packed = await through(new TextEncoder().encode(JSON.stringify(program)), new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  return "#" + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// Null for anything that no link of ours says.
export async function fromLink(hash) {
  if (hash.length < 2 || hash.length > MAX_LINK) return null;
  try {
    const packed = Uint8Array.from(
      atob(hash.slice(1).replaceAll("-", "+").replaceAll("_", "/")),
      (char) => char.charCodeAt(0),
    );
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const parts = [];
    let size = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > MAX_TEXT) return null;
      parts.push(part.value);
    }
    const said = JSON.parse(await new Blob(parts).text());
    const pairs = Array.isArray(said.defines) ? said.defines : [];
    if (typeof said.text !== "string") return null;
    return {
      text: said.text,
      defines: pairs.filter((pair) => Array.isArray(pair) && pair.length === 2).slice(0, 64).map((pair) => pair.map(String)),
    };
  } catch {
    return null;
  }
}
