// Every page at the width of a desktop and of a phone: nothing reaches beyond the screen, each picture is loaded, each
// page has one h1 and a description. `node pages.mjs URL CHROMIUM MODULES SHOTS PAGE...`; a picture of each page is in
// SHOTS/pages. Prints a line for what is wrong, exits 1 if there is any.

import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";

const [url, executablePath, modules, shots, ...pages] = process.argv.slice(2);
const { chromium } = createRequire(`${modules}/x.js`)("playwright-core");
const SIZES = { desktop: { width: 1400, height: 900 }, phone: { width: 390, height: 844 } };
const TALLEST = 12_000; // pixels of a picture

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
mkdirSync(`${shots}/pages`, { recursive: true });
let wrong = 0;

// What reaches beyond the right edge, outside of what scrolls by itself.
function strays() {
  const scrolls = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      if (getComputedStyle(at).overflowX !== "visible") return true;
    }
    return false;
  };
  const main = document.querySelector("article") ?? document.body;
  const found = [...main.querySelectorAll("*")].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.right > innerWidth + 1 && !scrolls(element.parentElement);
  });
  return found.slice(0, 3).map((element) => `${element.tagName.toLowerCase()}.${element.className}: ${element.textContent.trim().slice(0, 40)}`);
}

for (const [size, viewport] of Object.entries(SIZES)) {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  const said = [];
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("response", (answer) => answer.status() >= 400 && said.push(`${answer.status()} ${answer.url()}`));
  context.on("request", (request) => request.url().startsWith(url) || /^(data|blob):/.test(request.url()) || said.push(`asked ${request.url()}`));
  for (const path of pages) {
    said.length = 0;
    await page.goto(`${url}/${path}`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) said.push(`${over} pixels wider than the screen`);
    said.push(...(await page.evaluate(strays)).map((place) => `beyond the edge: ${place}`));
    const found = await page.evaluate(() => ({
      titles: document.querySelectorAll("h1").length,
      description: document.querySelector('meta[name="description"]')?.content ?? "",
      broken: [...document.images].filter((image) => image.complete && !image.naturalWidth).map((image) => image.src),
      height: document.documentElement.scrollHeight,
    }));
    if (found.titles !== 1) said.push(`${found.titles} h1`);
    if (!found.description) said.push("no description");
    if (found.broken.length) said.push(`not loaded: ${found.broken}`);
    const clip = { x: 0, y: 0, width: viewport.width, height: Math.min(found.height, TALLEST) };
    const name = path.replace(/\.html$/, "").replaceAll("/", "-");
    await page.screenshot({ path: `${shots}/pages/${name}-${size}.png`, fullPage: true, clip });
    for (const line of said) console.log(`${path}, ${size}: ${line}`);
    wrong += said.length;
  }
  await context.close();
}
await browser.close();
console.log(`${wrong ? "not ok" : "ok"} ${pages.length} pages, desktop and phone`);
process.exit(wrong ? 1 : 0);
