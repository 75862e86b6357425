// The npm package in Node; tests/anywhere/wasm_test.sh runs it and says where things are:
// BET_PACKAGE, the package's folder; BET_MODEL, a model of bet_make_page_model; BET_DAMAGED and BET_HUGE, what
// `bet_same_lists damage` and `huge` wrote; BET_SERVE, the native program.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

const { BET_PACKAGE, BET_MODEL, BET_DAMAGED, BET_HUGE, BET_SERVE } = process.env;
const { Model, BetError } = await import(pathToFileURL(`${BET_PACKAGE}/index.js`));
const file = await readFile(BET_MODEL);
const modules = ['bet.wasm', 'bet-simd.wasm'];

const serve = (...words) => JSON.parse(execFileSync(BET_SERVE, words, { encoding: 'utf8' }));

/** Whether the call throws, or rejects with, a BetError of this kind and text. */
const refuses = async (call, kind, text) => assert.rejects(async () => call(), (error) => {
  assert.ok(error instanceof BetError && error instanceof Error, String(error));
  assert.equal(error.kind, kind);
  assert.match(error.message, text);
  return true;
});

for (const wasm of modules) {
  const open = (source) => Model.open(source, { wasm: `${BET_PACKAGE}/${wasm}` });

  test(`${wasm} answers as bet-serve does`, async () => {
    const model = await open(BET_MODEL);
    for (const user of model.users({ limit: 40 }).ids) {
      const expected = serve('recommend', BET_MODEL, '--user', user, '-k', '15', '--json').items;
      const got = model.recommend(user, { k: 15 });
      assert.deepEqual(got.map(({ item }) => item), expected.map(({ item }) => item));
      got.forEach(({ score }, i) => assert.ok(Math.abs(score - expected[i].score) < 1e-5));
    }
  });

  test(`${wasm} has the info of bet-serve inspect`, async () => {
    const model = await open(BET_MODEL);
    assert.deepEqual(model.info, serve('inspect', BET_MODEL, '--json'));
    assert.equal(model.info.sections.reduce((sum, { bytes }) => sum + bytes, 0), file.length);
  });

  test(`${wasm} refuses damaged files as natively`, async () => {
    const verdicts = JSON.parse(await readFile(BET_DAMAGED, 'utf8'));
    let refused = 0;
    for (const { file: hex, error } of verdicts) {
      let text = '';
      try {
        const model = await open(Buffer.from(hex, 'hex'));
        for (const user of model.users().ids) if (!user.includes('\ufffd')) model.recommend(user);
        model.close();
      } catch (problem) {
        assert.equal(problem.kind, 'bad_input', problem.message);
        text = problem.message;
        ++refused;
      }
      assert.equal(text, new TextDecoder().decode(Buffer.from(error, 'hex')));
    }
    assert.ok(refused > 200 && refused < verdicts.length - 20, `${refused} of ${verdicts.length}`);
  });

  test(`${wasm} refuses every truncation and every wrong byte`, async () => {
    for (let size = 0; size < file.length; size += 97) {
      await refuses(() => open(file.subarray(0, size)), 'bad_input', /./);
    }
    for (let at = 0; at < file.length; at += 41) {
      const wrong = Uint8Array.from(file);
      wrong[at] ^= 0x80;
      await refuses(() => open(wrong), 'bad_input', /./);
    }
  });

  test(`${wasm} refuses what addresses of 32 bits do not reach`, async () => {
    await refuses(() => open(BET_HUGE), 'internal', /no memory for 1048577 x 4096 numbers$/);
  });
}

test('opens addresses and bytes of every kind', async (context) => {
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/model.bet' ? 200 : 404;
    response.end(file);
  }).listen(0, '127.0.0.1');  // a bare system does not know `localhost`
  context.after(() => {
    server.close();
    server.closeAllConnections();  // Node 18 waits for idle ones
  });
  await once(server, 'listening');
  const address = `http://127.0.0.1:${server.address().port}/`;
  const exact = file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
  const sources = [BET_MODEL, pathToFileURL(BET_MODEL), String(pathToFileURL(BET_MODEL)), file, exact,
                   new DataView(exact), new Blob([file]), new Response(file), `${address}model.bet`,
                   new URL('model.bet', address)];
  for (const source of sources) {
    const model = await Model.open(source);  // with the module that this engine runs best
    assert.equal(model.info.file_bytes, file.length);
    model.close();
  }
  await refuses(() => Model.open(`${address}other`), 'not_found', /other: the server answered 404/);
  await refuses(() => Model.open('/no/such/file'), 'not_found', /^\/no\/such\/file: /);
  await refuses(() => Model.open(42), 'bad_input', /^model: give an address/);
  await refuses(() => Model.open(file, { wasn: 1 }), 'bad_input', /^unknown option wasn; known: wasm$/);
  await refuses(() => Model.open(new Uint8Array(64)), 'bad_input', /not a bet model file/);
});

test('options say which items an answer may have', async () => {
  const model = await Model.open(file);
  const user = model.users().ids[0];
  const ids = (list) => list.map(({ item }) => item);
  const all = model.recommend(user, { k: 300, includeSeen: true });
  assert.equal(all.length, 300);
  const seen = model.seen(user);
  assert.ok(seen.length > 10);
  const unseen = all.filter(({ item }) => !seen.includes(item));
  assert.deepEqual(model.recommend(user, { k: 300 }), unseen);
  assert.equal(model.recommend(user).length, 10);
  assert.deepEqual(model.recommend(user, { k: 5, exclude: ids(unseen.slice(0, 3)) }), unseen.slice(3, 8));
  const only = new Set([...ids(unseen.slice(20, 30)), 'unknown']);
  assert.deepEqual(ids(model.recommend(user, { k: 300, only })), ids(unseen.slice(20, 30)));
  assert.deepEqual(model.recommend(user, { only: [] }), []);
  assert.deepEqual(model.recommend(user, { k: 300, minScore: unseen[7].score }), unseen.slice(0, 8));
  const scores = model.scores(user, ['unknown', ...ids(all.slice(0, 5))]);
  assert.ok(Number.isNaN(scores[0]));
  scores.slice(1).forEach((score, i) => assert.ok(Math.abs(score - all[i].score) < 1e-5));

  const given = ids(all.slice(0, 2));
  assert.deepEqual(model.recommendFor([...given, 'unknown']), model.recommendFor(given));
  assert.ok(!ids(model.recommendFor(given, { k: 300 })).some((item) => given.includes(item)));
  assert.equal(model.similar(given[0], { k: 300 }).length, 299);
  const popular = model.popular({ k: 3 });
  assert.ok(popular[0].score >= popular[2].score && popular[2].score >= 1);
});

test('ids are listed by their beginning, and may be of any script', async () => {
  const model = await Model.open(file);
  const { ids, total } = model.users({ limit: 40 });
  assert.equal(ids.length, 40);
  assert.equal(total, 40);
  const ones = ids.filter((id) => id.startsWith('u1'));
  assert.deepEqual(model.users({ prefix: 'u1', limit: 2 }), { ids: ones.slice(0, 2), total: ones.length });
  const odd = 'a&k=1#?"\'+%41 \\zoë 日本';
  assert.ok(model.hasUser(odd) && model.hasItem(odd) && !model.hasUser('nobody') && !model.hasItem('nothing'));
  assert.deepEqual(model.items({ prefix: 'a&' }), { ids: [odd], total: 1 });
  assert.equal(model.recommend(odd, { k: 3 }).length, 3);
});

test('errors have kinds', async () => {
  const model = await Model.open(file);
  await refuses(() => model.recommend('nobody'), 'not_found', /^unknown user 'nobody'$/);
  await refuses(() => model.similar('nothing'), 'not_found', /^unknown item 'nothing'$/);
  await refuses(() => model.recommendFor(['nothing']), 'not_found', /^unknown item 'nothing'$/);
  await refuses(() => model.recommendFor([]), 'bad_input', /empty list/);
  await refuses(() => model.recommend(1.5), 'bad_input', /^user: 1.5 is no id/);
  await refuses(() => model.recommend('u0', { k: -1 }), 'bad_input', /^k is -1/);
  await refuses(() => model.recommend('u0', { n: 1 }), 'bad_input', /^unknown option n; known: k, /);
  await refuses(() => model.recommend('u0', { minScore: NaN }), 'bad_input', /^minScore is NaN/);
  await refuses(() => model.recommend('u0', { only: 'u1' }), 'bad_input', /^only: u1 is no list/);
  assert.equal(model.recommend('u0', { k: 1 }).length, 1);  // errors leave it as it was
  model.close();
  model.close();
  await refuses(() => model.recommend('u0'), 'bad_input', /^the model is closed$/);
  await refuses(() => model.info, 'bad_input', /^the model is closed$/);
  assert.equal(model.memoryBytes, 0);
});

test('memory is freed', async () => {
  const module = await WebAssembly.compile(await readFile(`${BET_PACKAGE}/bet.wasm`));
  for (let i = 0; i < 1000; ++i) {  // of 1 MiB at least each
    const model = await Model.open(file, { wasm: module });
    model.recommend('u0');
    if (i % 2 === 0) model.close();  // the others are left to the garbage collector
  }
  const { rss } = process.memoryUsage();
  assert.ok(rss < 0.6e9, `${rss} bytes`);
  const model = await Model.open(file);
  model.recommend('u0', { k: 300 });
  const { memoryBytes } = model;
  for (let i = 0; i < 2000; ++i) model.recommend('u0', { k: 300, exclude: [`item ${i}`] });
  assert.equal(model.memoryBytes, memoryBytes);
});

test('the package is small, and its types name what it has', async () => {
  const compressed = async (name) => gzipSync(await readFile(`${BET_PACKAGE}/${name}`), { level: 9 }).length;
  for (const wasm of modules) {  // a browser loads one of them
    const bytes = await compressed('index.js') + await compressed(wasm);
    assert.ok(bytes <= 120_000, `index.js and ${wasm} take ${bytes} bytes, compressed`);
  }
  const types = await readFile(`${BET_PACKAGE}/index.d.ts`, 'utf8');
  const declared = types.slice(types.indexOf('export class Model'));
  for (const name of Object.getOwnPropertyNames(Model.prototype).filter((name) => name !== 'constructor')) {
    assert.match(declared, new RegExp(`^  (readonly )?${name}[(:]`, 'm'));
  }
  const info = types.slice(types.indexOf('export interface Info'), types.indexOf('export type ErrorKind'));
  const keys = Object.keys((await Model.open(file)).info).sort();
  assert.deepEqual([...info.matchAll(/^  (\w+)\??:/gm)].map((match) => match[1]).sort(), keys);
});
