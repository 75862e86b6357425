// node model_bench.mjs PACKAGE WASM MODEL: what bet_model_bench measures, by the npm package in the folder PACKAGE
// with its module WASM, and the memory: `open_ms top20_ms memory_bytes`.
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

const [folder, wasm, path] = process.argv.slice(2);
const { Model } = await import(pathToFileURL(`${folder}/index.js`));
const module = await WebAssembly.compile(await readFile(`${folder}/${wasm}`));
const file = await readFile(path);

const cpuTime = () => (process.cpuUsage().user + process.cpuUsage().system) / 1000;
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const opened = [];
for (let i = 0; i < 21; ++i) {
  const start = cpuTime();
  (await Model.open(file, { wasm: module })).close();
  opened.push(cpuTime() - start);
}
const model = await Model.open(file, { wasm: module });
const users = model.users({ limit: model.info.users }).ids;
const asked = [];
for (let i = 0; i < 200; ++i) {
  const user = users[i * Math.floor(users.length / 200)];
  const start = cpuTime();
  if (model.recommend(user, { k: 20 }).length === 0) throw new Error(`no items for ${user}`);
  asked.push(cpuTime() - start);
}
console.log(median(opened).toFixed(3), median(asked).toFixed(3), model.memoryBytes);
