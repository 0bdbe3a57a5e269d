// The site as a visitor uses it, in headless Chromium: type, break, fix, share, reload, offline; light and dark; wide
// and narrow. `node walk.mjs URL CHROMIUM MODULES SHOTS`; prints a line for each step, exits 1 at the first that fails.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { deflateRawSync } from "node:zlib";

const [url, executablePath, modules, shots] = process.argv.slice(2);
const { chromium } = createRequire(`${modules}/x.js`)("playwright-core");
const WIDE = { width: 1400, height: 900 };
const NARROW = { width: 390, height: 844 };

// What is searched for, and the page that is found first.
const SEARCHES = {
  tuning: "tuning.html",
  debugging: "debugging.html",
  gradient: "gradients.html",
  threads: "threads.html",
  notebook: "notebook.html",
  "port package": "porting.html",
  launch: "launching.html",
  editor: "editors.html",
  "several gpus": "several-gpus.html",
  unmodified: "legacy.html",
  architecture: "inside/architecture.html",
};

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: WIDE });
await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: new URL(url).origin });
const page = await context.newPage();
const wrong = [];
const foreign = [];
page.on("pageerror", (error) => wrong.push(String(error)));
page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
context.on("request", (request) => request.url().startsWith(url) || /^(data|blob):/.test(request.url()) || foreign.push(request.url()));

async function step(name, does) {
  const started = Date.now();
  const said = await does();
  assert.deepEqual(wrong, [], name);
  assert.deepEqual(foreign, [], "asked another host");
  console.log(`ok ${name}${said ? `: ${said}` : ""} (${Date.now() - started} ms)`);
}

const ready = () => page.waitForFunction(() => document.body.dataset.ready && document.body.dataset.answers, null, { timeout: 60_000 });
const python = () => page.locator("#result .cm-content").innerText();
const shot = (name) => page.screenshot({ path: `${shots}/${name}.png` });

// Types a whole new text, and waits for what is said of it.
async function type(text) {
  await page.locator("#source .cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}
const says = (part) => page.locator("#messages", { hasText: part }).waitFor({ timeout: 10_000 });
const becomes = (part) => page.locator("#result .cm-content", { hasText: part }).waitFor({ timeout: 10_000 });

const FILL = (what) => `__global__ void fill(float* x) {\n  int i[TILE] = 0 ... TILE;\n  *(x + i) = ${what};\n}\n`;

await step("first visit", async () => {
  const started = Date.now();
  await page.goto(`${url}/playground/`);
  await page.locator("#loading").waitFor();
  await becomes("tl.arange");
  assert.equal(await page.evaluate(() => document.body.dataset.ready), undefined); // made when the site was built
  const shown = Date.now() - started;
  await page.locator("#examples").selectOption("1");
  await becomes("tl.exp");
  await page.locator("#examples").selectOption("0");
  await ready();
  await page.locator("#state", { hasText: " ms" }).waitFor();
  await becomes("tl.arange");
  return `a translation after ${shown} ms; asked for: 5000 ms`;
});

await step("a download that fails, then another try", async () => {
  for (const file of ["packages.zip", "pyodide.asm.wasm", "pyodide.mjs"]) {
    const other = await (await browser.newContext({ serviceWorkers: "block" })).newPage();
    await other.route(`**/${file}`, (route) => route.fulfill({ status: 503 }));
    await other.goto(`${url}/playground/`);
    await other.locator("#stage", { hasText: "could not be downloaded" }).waitFor({ timeout: 60_000 });
    await other.unroute(`**/${file}`);
    if (file === "packages.zip") await other.screenshot({ path: `${shots}/playground-failed.png` });
    await other.getByRole("button", { name: "Try again" }).click();
    await other.waitForFunction(() => document.body.dataset.ready, null, { timeout: 60_000 });
    assert.equal(await other.locator("#loading").isVisible(), false);
    await other.context().close();
  }
});

await step("every example, again once it was seen", async () => {
  const count = await page.locator("#examples option").count();
  const times = [];
  for (let round = 0; round < 2; round += 1) {
    for (let number = 0; number < count; number += 1) {
      const before = await page.evaluate(() => document.body.dataset.answers);
      await page.locator("#examples").selectOption(String(number));
      await page.waitForFunction((n) => document.body.dataset.answers !== n, before);
      if (round) times.push(Number(await page.evaluate(() => document.body.dataset.took)));
    }
  }
  return `${times.map((time) => `${time.toFixed(0)} ms`).join(", ")}; asked for: 50 ms each`;
});

await step("type: a define is missing", async () => {
  await page.locator("#examples").selectOption("0");
  await becomes("def add(");
  await page.getByRole("button", { name: "remove TILE" }).click();
  await type(FILL("1"));
  await says("'TILE' is not declared [TC301]");
});

await step("give it, by keyboard alone", async () => {
  await page.getByRole("button", { name: "Define TILE" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.insertText("64");
  await becomes("def fill(");
  assert.equal(await page.locator("#messages").isVisible(), false);
});

await step("break: squiggle and caret", async () => {
  await type(FILL("val"));
  await says("'val' is not declared [TC301]");
  await says("^~~");
  await page.locator("#source .cm-lintRange-error").waitFor();
  assert.match(await python(), /def fill\(/); // the last good translation stays, dimmed
  await shot("playground-error");
});

await step("fix", async () => {
  await type(FILL("7"));
  await becomes("7.0");
  assert.equal(await page.locator("#messages").isVisible(), false);
});

await step("the same line on both sides", async () => {
  await page.locator("#source .cm-line", { hasText: "= 7" }).hover();
  assert.match(await page.locator("#result .same-line").innerText(), /tl\.store/);
  await page.locator("#result .cm-line", { hasText: "tl.arange" }).hover();
  assert.match(await page.locator("#source .same-line").innerText(), /0 \.\.\. TILE/);
});

await step("tabs by keyboard: the gradient, one kernel for all defines", async () => {
  await page.locator("#examples").selectOption({ label: "Bias and ReLU, by #if" });
  await becomes("def bias(");
  await page.locator("#tab-python").focus();
  await page.keyboard.press("ArrowRight");
  await becomes("d_z");
  await page.keyboard.press("ArrowRight");
  await becomes("if RELU");
  await shot("playground-folded");
  await page.keyboard.press("ArrowRight");
  await becomes("int64_t");
  await shot("playground-c");
  await page.keyboard.press("ArrowRight");
  await page.locator("#tab-python[aria-selected=true]").waitFor();
});

await step("another example clears every tab", async () => {
  const result = page.locator("#result .cm-content");
  for (const name of ["c", "folded", "gradient", "python"]) {
    await page.locator("#examples").selectOption({ label: "Vector add" });
    await page.locator(`#tab-${name}`).click();
    await page.locator("#result .cm-content", { hasText: /add|d_z/ }).waitFor();
    await page.locator("#examples").selectOption({ label: "Three mistakes" });
    await says("ldz");
    assert.equal((await result.innerText()).trim(), "");
  }
});

await step("format", async () => {
  await type("__global__ void fill(float* x){\nint i[TM]=0 ... TM;\n*(x+i)=3;\n}\n");
  await becomes("3.0");
  await page.getByRole("button", { name: "Format" }).click();
  await page.locator("#source .cm-content", { hasText: "  *(x + i) = 3;" }).waitFor();
  await page.locator("#source .cm-content", { hasText: "float *x" }).waitFor();
  await becomes("3.0");
  await page.locator("#examples").selectOption({ label: "Bias and ReLU, by #if" });
  await becomes("def bias(");
});

let link = "";
await step("share, reload", async () => {
  await type(FILL("1234"));
  await page.locator(".define input").nth(1).fill("32");
  await becomes("1234.0");
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  link = await page.evaluate(() => navigator.clipboard.readText());
  await page.reload();
  await ready();
  await becomes("1234.0");
  const other = await context.newPage();
  await other.goto(link);
  await other.locator("#source .cm-content", { hasText: "= 1234" }).waitFor();
  assert.equal(await other.locator(".define input").nth(1).inputValue(), "32");
  await other.close();
  return `${link.length} characters`;
});

await step("text of a link is only text", async () => {
  const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
  const text = `void f(int* x) { *x = "${evil}"; }`;
  const made = deflateRawSync(Buffer.from(JSON.stringify({ text, defines: [[evil, evil]] }))).toString("base64url");
  await page.goto(`${url}/playground/#${made}`);
  await page.reload();
  await ready();
  await page.locator("#source .cm-content", { hasText: "onerror" }).waitFor();
  await page.locator("#messages pre").first().waitFor();
  assert.equal(await page.locator("img[onerror], #messages img, .define img, body script:not([src])").count(), 0);
  assert.match(await page.title(), /^Playground/);
  for (const broken of ["#", "#%%%", "#AAAA", `#${"A".repeat(1000)}`]) {
    await page.goto(`${url}/playground/${broken}`);
  }
});

await step("a text that takes too long: another worker", async () => {
  await page.goto(`${url}/playground/`);
  await page.reload();
  await ready();
  const line = "  *(x + i) = (*(x + i) + 1) * 3 - (*(x + i) / 2);\n";
  await page.locator("#tab-folded").click();
  await page.locator(".define input").nth(1).fill("16, 32, 64, 128, 256, 512, 1024, 2048");
  await type(`__global__ void f(float* x) {\n  int i[TILE] = 0 ... TILE;\n${line.repeat(900)}}\n`);
  await says("more than 5 s");
  await page.locator("#tab-python").click();
  await type(FILL("5"));
  await becomes("5.0");
});

await step("offline", async () => {
  await page.waitForFunction(() => navigator.serviceWorker?.controller, null, { timeout: 30_000 });
  await context.setOffline(true);
  await page.reload();
  await ready();
  await type(FILL("99"));
  await becomes("99.0");
  await context.setOffline(false);
});

await step("warm start", async () => {
  const started = Date.now();
  await page.goto(`${url}/playground/?warm`);
  await ready();
  return `first translation after ${Date.now() - started} ms; asked for: 8000 ms`;
});

await step("the report of a port", async () => {
  for (const viewport of [WIDE, NARROW]) {
    await page.setViewportSize(viewport);
    await page.goto(`${url}/ported.html`);
    const found = await page.evaluate(() => {
      const rows = [...document.querySelectorAll(".code tr")].map((row) => [...row.cells].filter((cell) => cell.offsetParent));
      const tops = rows.map((row) => row.map((cell) => Math.round(cell.getBoundingClientRect().top)));
      const links = [...document.querySelectorAll('a[href^="#"]')].map((link) => link.getAttribute("href").slice(1));
      return {
        kernels: document.querySelectorAll("section").length,
        scripts: document.scripts.length,
        dead: links.filter((link) => !document.getElementById(decodeURIComponent(link))),
        cut: [...document.querySelectorAll(".code td")].filter((cell) => cell.scrollWidth > cell.clientWidth + 1).length,
        uneven: tops.filter((row) => new Set(row).size > 1).length, // opposite lines that are not level
      };
    });
    if (viewport === NARROW) found.uneven = 0; // one column there
    assert.deepEqual(found, { kernels: 6, scripts: 0, dead: [], cut: 0, uneven: 0 });
  }
});

await step("search: pages for users before those about the code", async () => {
  const howTo = new Set(Object.values(SEARCHES).filter((path) => !path.startsWith("inside/")));
  for (const [words, first] of Object.entries(SEARCHES)) {
    await page.goto(`${url}/search.html?q=${encodeURIComponent(words)}`);
    await page.locator("#search-results > p", { hasText: "found" }).waitFor();
    await page.locator("#search-results li").first().waitFor();
    const links = await page.locator("#search-results li > a:first-of-type").evaluateAll((all) => all.map((link) => new URL(link.href).pathname.slice(1)));
    const inside = links.findIndex((path) => path.startsWith("inside/"));
    assert.equal(links[0], first, words);
    if (inside > 0) assert.deepEqual(links.slice(inside).filter((path) => howTo.has(path)), [], words);
  }
});

for (const [size, viewport] of [["wide", WIDE], ["narrow", NARROW]]) {
  for (const [name, path] of [["start", "start.html"], ["index", "index.html"], ["tutorial", "tutorial/softmax.html"], ["by-example", "by-example.html"], ["report", "ported.html"], ["playground", "playground/"]]) {
    for (const colorScheme of ["light", "dark"]) {
      await step(`screenshot of ${name}, ${size}, ${colorScheme}`, async () => {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await page.goto(`${url}/${path}`);
        if (name === "playground") {
          await page.reload();
          await ready();
          await becomes("tl.");
        }
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${over} pixels wider than the screen`);
        await shot(`${name}-${size}-${colorScheme}`);
      });
    }
  }
}

await browser.close();
