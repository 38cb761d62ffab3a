// Searches a site as its search page does, without a server: search.js SITE WORDS... prints the first pages found, one line for each of WORDS.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [site, ...queries] = process.argv.slice(2);
const page = {
  document: { documentElement: { dataset: { content_root: "./" } }, readyState: "loading", addEventListener() {},
    getElementById: () => ({ children: [], append() {}, removeChild() {}, replaceChildren() {} }) },
  localStorage: { getItem: () => null, setItem() {} },
  fetch() { throw new Error("a page from a file fetches nothing"); },
  console,
};
page.window = page;
vm.createContext(page);
const scripts = fs.readFileSync(path.join(site, "search.html"), "utf8").matchAll(/<script src="([^"?]*)/g);
for (const [, name] of scripts)
  if (!name.endsWith("furo.js")) // the theme's, which draws
    vm.runInContext(fs.readFileSync(path.join(site, name), "utf8"), page, { filename: name });
for (page.query of queries) {
  const found = vm.runInContext("Search._performSearch(...Search._parseQuery(query))", page);
  console.log(found.reverse().map((row) => row[0]).join(" ")); // the last is the best
}
