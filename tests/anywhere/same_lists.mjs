// node same_lists.mjs PACKAGE WASM FOLDER: what `bet_same_lists print FOLDER` prints, by the npm package in the
// folder PACKAGE with its module WASM.
import { readdir } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

const [packageFolder, wasm, folder] = process.argv.slice(2);
const { Model } = await import(pathToFileURL(`${packageFolder}/index.js`));

const lists = {};
for (const name of (await readdir(folder)).filter((file) => file.endsWith('.bet')).sort()) {
  const model = await Model.open(`${folder}/${name}`, { wasm: `${packageFolder}/${wasm}` });
  const { users: numUsers, items: numItems } = model.info;
  const users = model.users({ limit: numUsers }).ids;
  const items = model.items({ limit: numItems }).ids;
  const some = [items[2], items[7], items[30]];
  const of = {};
  const put = (call, id, list) => { of[`${call} ${id}`] = list.map(({ item, score }) => [item, score]); };
  const k = 20;
  for (let row = 0; row < numUsers; row += 7) {
    put('recommend', users[row], model.recommend(users[row], { k }));
    put('filtered', users[row], model.recommend(users[row], { k, exclude: some, includeSeen: true }));
  }
  for (let row = 0; row < numItems; row += 49) put('similar', items[row], model.similar(items[row], { k }));
  put('for', 'some', model.recommendFor(some, { k }));
  put('popular', 'items', model.popular({ k }));
  lists[name] = of;
  model.close();
}
console.log(JSON.stringify(lists));
