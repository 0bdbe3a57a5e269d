// `node tools/lighthouse.mjs URL CHROMIUM MODULES PAGE...`: Lighthouse's scores of the pages, of which each is to be at
// least 95. Only this machine is asked. MODULES: a folder node_modules that has lighthouse, else nothing is measured
// (npm install --prefix build/lighthouse lighthouse).

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";

const LEAST = 95;
const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"];
const [url, chromium, modules, ...pages] = process.argv.slice(2);

const run = (command, args, env) =>
  new Promise((done) => spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "inherit"] }).on("exit", done));

if (!existsSync(`${modules}/lighthouse`)) {
  console.log("Lighthouse skipped: npm install --prefix build/lighthouse lighthouse");
  process.exit(0);
}

const folder = mkdtempSync(`${tmpdir()}/lighthouse-`);
let low = 0;
for (const page of pages) {
  for (const device of ["desktop", "mobile"]) {
    const out = `${folder}/report.json`;
    const args = [`${url}/${page}`, "--quiet", `--only-categories=${CATEGORIES}`, "--output=json", `--output-path=${out}`];
    args.push("--chrome-flags=--headless=new --no-sandbox --host-resolver-rules='MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'");
    if (device === "desktop") args.push("--preset=desktop");
    await run(process.execPath, [`${modules}/lighthouse/cli/index.js`, ...args], { CHROME_PATH: chromium });
    const report = JSON.parse(readFileSync(out, "utf8"));
    const scores = Object.entries(report.categories).map(([name, { score }]) => [name, Math.round(score * 100)]);
    console.log(`Lighthouse, ${page}, ${device}: ${scores.map(([name, score]) => `${name} ${score}`).join(", ")}`);
    for (const [name, score] of scores) {
      if (score >= LEAST) continue;
      low += 1;
      for (const { id, weight } of report.categories[name].auditRefs) {
        const { score: part, title } = report.audits[id];
        if (weight && part !== null && part < 1) console.log(`  ${name} ${part}: ${title}`);
      }
    }
  }
}
rmSync(folder, { recursive: true });
process.exit(low ? 1 : 0);
