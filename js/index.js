// Recommendations from a model file of bet, in browsers, workers and Node. See README.md.

const KINDS = ['bad_input', 'not_found', 'budget', 'interrupted', 'internal'];  // as in bet/error.h

/** The one error of this package; `kind` says what a caller can do about it. */
export class BetError extends Error {
  constructor(message, kind = 'bad_input', options = undefined) {
    super(message, options);
    this.name = 'BetError';
    this.kind = kind;
  }
}

// A module with one function whose body is `v128.const 0; drop`: valid where the engine has SIMD.
const SIMD_PROBE = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 23, 1, 21, 0,
  253, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 26, 11);

const isNode = typeof process === 'object' && process.versions?.node !== undefined;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The bytes behind an address, or of a file in Node. */
async function fetchBytes(address) {
  const url = String(address);
  const scheme = /^[a-z][a-z0-9+.-]+:/i.exec(url)?.[0].toLowerCase();
  if (isNode && (scheme === undefined || scheme === 'file:')) {
    const { readFile } = await import('node:fs/promises');
    try {
      return await readFile(scheme === undefined ? url : new URL(url));
    } catch (error) {
      const kind = error.code === 'ENOENT' ? 'not_found' : 'bad_input';
      throw new BetError(`${url}: ${error.message}`, kind, { cause: error });
    }
  }
  let response;
  try {
    response = await fetch(address);
  } catch (error) {
    throw new BetError(`${url}: ${error.message}`, 'bad_input', { cause: error });
  }
  return responseBytes(response, url);
}

async function responseBytes(response, url = response.url) {
  if (!response.ok) {
    const kind = response.status === 404 || response.status === 410 ? 'not_found' : 'bad_input';
    throw new BetError(`${url}: the server answered ${response.status}`, kind);
  }
  return new Uint8Array(await response.arrayBuffer());
}

/** The bytes of whatever may be given as a file. */
async function bytesOf(source, what) {
  if (ArrayBuffer.isView(source)) {
    return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  }
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (typeof SharedArrayBuffer !== 'undefined' && source instanceof SharedArrayBuffer) {
    return new Uint8Array(source);
  }
  if (typeof source === 'string' || source instanceof URL) return fetchBytes(source);
  if (typeof Response !== 'undefined' && source instanceof Response) return responseBytes(source);
  if (typeof Blob !== 'undefined' && source instanceof Blob) {
    return new Uint8Array(await source.arrayBuffer());
  }
  throw new BetError(`${what}: give an address, an ArrayBuffer, a typed array, a Blob or a Response`);
}

let ownModule;  // a promise of the module of this package: compiled once

function defaultModule() {
  ownModule ??= (async () => {
    // Both spelled out, so that bundlers find the files.
    const url = WebAssembly.validate(SIMD_PROBE) ? new URL('./bet-simd.wasm', import.meta.url)
                                                 : new URL('./bet.wasm', import.meta.url);
    return WebAssembly.compile(await fetchBytes(url));
  })();
  ownModule.catch(() => { ownModule = undefined; });  // the next one tries again
  return ownModule;
}

async function moduleOf(wasm) {
  if (wasm === undefined) return defaultModule();
  if (wasm instanceof WebAssembly.Module) return wasm;
  return WebAssembly.compile(await bytesOf(wasm, 'wasm'));
}

async function instantiate(module) {
  // The module needs nothing of its surroundings: what the C++ library would print when it
  // terminates, or the like, ends the instance.
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = name === 'emscripten_notify_memory_growth' ? () => {} : () => {
      throw new WebAssembly.RuntimeError(`${name} was called`);
    };
  }
  const { exports } = await WebAssembly.instantiate(module, imports);
  exports._initialize?.();
  return exports;
}

/** Little-endian numbers and texts for src/wasm/exports.cpp. */
class RequestWriter {
  constructor() {
    this.bytes = new Uint8Array(256);
    this.view = new DataView(this.bytes.buffer);
    this.size = 0;
  }

  /** Makes room for so many bytes and returns where they begin. */
  grow(count) {
    const at = this.size;
    this.size += count;
    if (this.size > this.bytes.length) {
      const larger = new Uint8Array(Math.max(this.size, 2 * this.bytes.length));
      larger.set(this.bytes);
      this.bytes = larger;
      this.view = new DataView(larger.buffer);
    }
    return at;
  }

  u8(value) { const at = this.grow(1); this.view.setUint8(at, value); }
  u32(value) { const at = this.grow(4); this.view.setUint32(at, value, true); }
  f32(value) { const at = this.grow(4); this.view.setFloat32(at, value, true); }

  text(value) {
    const bytes = encoder.encode(value);
    this.u32(bytes.length);
    const at = this.grow(bytes.length);
    this.bytes.set(bytes, at);
  }

  texts(values) {
    this.u32(values.length);
    for (const value of values) this.text(value);
  }
}

class AnswerReader {
  constructor(buffer, at, size) {
    this.bytes = new Uint8Array(buffer, at, size);
    this.view = new DataView(buffer, at, size);
    this.at = 0;
  }

  u8() { return this.view.getUint8(this.at++); }
  u32() { return this.view.getUint32((this.at += 4) - 4, true); }
  f32() { return this.view.getFloat32((this.at += 4) - 4, true); }
  f64() { return this.view.getFloat64((this.at += 8) - 8, true); }

  text() {
    const size = this.u32();
    return decoder.decode(this.bytes.subarray(this.at, this.at += size));
  }

  list(element) {
    const count = this.u32();
    const values = [];
    for (let i = 0; i < count; ++i) values.push(element());
    return values;
  }

  scored() {
    return this.list(() => {
      const score = this.f32();
      return { item: this.text(), score };
    });
  }
}

function checkedId(value, what) {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'bigint') return String(value);
  throw new BetError(`${what}: ${String(value)} is no id; ids are texts or integers`);
}

function checkedIds(values, what) {
  if (typeof values === 'string' || typeof values?.[Symbol.iterator] !== 'function') {
    throw new BetError(`${what}: ${String(values)} is no list of ids`);
  }
  return Array.from(values, (value) => checkedId(value, what));
}

function checkedCount(value, what) {
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) {
    throw new BetError(`${what} is ${String(value)}, not an integer of at least 0`);
  }
  return value;
}

const OPTIONS = ['k', 'exclude', 'only', 'minScore', 'includeSeen'];

function checkOptions(options, known) {
  if (options === null || typeof options !== 'object') {
    throw new BetError(`options are an object, not ${String(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new BetError(`unknown option ${name}; known: ${known.join(', ')}`);
  }
}

/** As `Options` of src/wasm/exports.cpp. */
function writeOptions(request, options) {
  checkOptions(options, OPTIONS);
  const { k = 10, exclude = [], only, minScore = -Infinity, includeSeen = false } = options;
  request.u32(checkedCount(k, 'k'));
  request.u8(includeSeen ? 1 : 0);
  if (typeof minScore !== 'number' || Number.isNaN(minScore)) {
    throw new BetError(`minScore is ${String(minScore)}, not a number`);
  }
  request.f32(minScore);
  request.texts(checkedIds(exclude, 'exclude'));
  request.u8(only === undefined ? 0 : 1);
  if (only !== undefined) request.texts(checkedIds(only, 'only'));
}

/** The numbers of rows by size, without the sizes that no row has. */
function sizesOf(counts) {
  return Object.fromEntries(counts.map((count, size) => [size, count]).filter(([, count]) => count > 0));
}

/** What the file was allowed and what it takes; null where it does not say. */
function budgetOf(info) {
  const requested = info.facts['budget.requested'];
  if (typeof requested !== 'string') return null;
  const inBytes = /b$/i.test(requested);
  const allowed = info.facts[inBytes ? 'budget.bytes' : 'budget.params'];
  const wholeFile = info.facts['budget.for'] === 'file';
  const used = wholeFile ? info.file_bytes : inBytes ? info.table_bytes : info.params;
  if (typeof allowed !== 'number' || used === null) return null;
  return {
    requested,
    for: wholeFile ? 'file' : 'table',
    unit: inBytes ? 'bytes' : 'parameters',
    of: wholeFile ? 'file' : inBytes ? 'rows as stored' : 'trained table',
    allowed,
    used,
    kept: used <= allowed,
  };
}

function readInfo(answer) {
  const info = {};
  for (const key of ['backbone', 'serving', 'precision', 'item_precision', 'layout', 'score']) {
    info[key] = answer.text();
  }
  for (const key of ['users', 'items', 'interactions', 'dimension', 'row_width', 'max_dim', 'values',
                     'table_bytes', 'file_bytes', 'opened_bytes']) {
    info[key] = answer.f64();
  }
  info.sections = answer.list(() => ({ name: answer.text(), bytes: answer.f64() }));
  info.user_sizes = sizesOf(answer.list(() => answer.u32()));
  info.item_sizes = sizesOf(answer.list(() => answer.u32()));
  info.example_user = answer.list(() => answer.text())[0] ?? null;
  info.facts = Object.fromEntries(
    answer.list(() => [answer.text(), answer.u8() === 0 ? answer.text() : answer.f64()]));
  const hasGraph = info.backbone === 'lightgcn' || info.backbone === 'ngcf';
  const propagated = hasGraph && info.serving === 'materialised';
  info.holds = propagated ? 'propagated vectors' : 'trained table';
  const trained = info.facts['used.params'];
  info.params = !propagated ? info.values : typeof trained === 'number' ? trained : null;
  info.budget = budgetOf(info);
  return info;
}

export class Model {
  #wasm;  // the exports of an instance of its own; undefined once closed
  #info;

  constructor(wasm) {
    if (!(wasm?.memory instanceof WebAssembly.Memory)) {
      throw new BetError('a model is opened by Model.open()');
    }
    this.#wasm = wasm;
  }

  /** A model from an address, a file in Node, or bytes. */
  static async open(source, options = {}) {
    checkOptions(options, ['wasm']);
    const [bytes, module] = await Promise.all([bytesOf(source, 'model'), moduleOf(options.wasm)]);
    const wasm = await instantiate(module);
    const at = wasm.file_memory(bytes.length) >>> 0;
    if (at === 0 && bytes.length > 0) {
      throw new BetError(`no memory for a file of ${bytes.length} bytes`, 'internal');
    }
    new Uint8Array(wasm.memory.buffer).set(bytes, at);
    const model = new Model(wasm);
    try {
      model.#call('open', () => {});
    } catch (error) {
      model.close();
      if (error instanceof BetError && (typeof source === 'string' || source instanceof URL)) {
        error.message = `${source}: ${error.message}`;
      }
      throw error;
    }
    return model;
  }

  /** Lets go of the memory; every later call is an error. */
  close() {
    this.#wasm = undefined;
    this.#info = undefined;
  }

  /** Runs an export with the request that write(request) makes and returns read(answer). */
  #call(name, write, read = () => undefined) {
    const wasm = this.#wasm;
    if (wasm === undefined) throw new BetError('the model is closed');
    const request = new RequestWriter();
    write(request);
    let code;
    try {
      const at = wasm.request_memory(request.size) >>> 0;
      if (at === 0 && request.size > 0) throw new BetError('no memory for the request', 'internal');
      new Uint8Array(wasm.memory.buffer).set(request.bytes.subarray(0, request.size), at);
      code = wasm[name]();
    } catch (error) {
      if (error instanceof BetError) throw error;
      this.close();  // whatever state it is in
      throw new BetError(`${name}: ${error.message}`, 'internal', { cause: error });
    }
    const at = wasm.answer_data() >>> 0;
    const size = wasm.answer_size() >>> 0;
    if (code !== 0) {
      const text = decoder.decode(new Uint8Array(wasm.memory.buffer, at, size));
      throw new BetError(text, KINDS[code - 1]);
    }
    return read(new AnswerReader(wasm.memory.buffer, at, size));
  }

  #scored(name, options, write = () => {}) {
    return this.#call(name, (request) => {
      writeOptions(request, options);
      write(request);
    }, (answer) => answer.scored());
  }

  /** The best items for a user, best first. */
  recommend(user, options = {}) {
    return this.#scored('recommend', options, (request) => request.text(checkedId(user, 'user')));
  }

  /** The best items for somebody who has these items; unknown ones are left out. */
  recommendFor(items, options = {}) {
    return this.#scored('recommend_for', options, (request) => request.texts(checkedIds(items, 'items')));
  }

  /** The items most similar to one. */
  similar(item, options = {}) {
    return this.#scored('similar', options, (request) => request.text(checkedId(item, 'item')));
  }

  /** The items that most users have; the score is the number of these users. */
  popular(options = {}) {
    return this.#scored('popular', options);
  }

  /** The scores of these items for a user, in their order; NaN for unknown items. */
  scores(user, items) {
    const asked = checkedIds(items, 'items');
    return this.#call('scores', (request) => {
      request.text(checkedId(user, 'user'));
      request.texts(asked);
    }, (answer) => asked.map(() => answer.f32()));
  }

  /** The items that a user had in training; empty where the file does not have them. */
  seen(user) {
    return this.#call('seen', (request) => request.text(checkedId(user, 'user')),
                      (answer) => answer.list(() => answer.text()));
  }

  hasUser(user) { return this.#has('has_user', checkedId(user, 'user')); }
  hasItem(item) { return this.#has('has_item', checkedId(item, 'item')); }

  #has(name, id) {
    return this.#call(name, (request) => request.text(id), (answer) => answer.u8() === 1);
  }

  /** Users whose ids begin with `prefix`, and how many of them there are. */
  users(options = {}) { return this.#ids('users', options); }
  /** The same for items. */
  items(options = {}) { return this.#ids('items', options); }

  #ids(name, options) {
    checkOptions(options, ['prefix', 'limit']);
    const { prefix = '', limit = 20 } = options;
    return this.#call(name, (request) => {
      request.text(checkedId(prefix, 'prefix'));
      request.u32(checkedCount(limit, 'limit'));
    }, (answer) => ({ ids: answer.list(() => answer.text()), total: answer.u32() }));
  }

  /** What the file is and where its bytes go: what `bet-serve inspect --json` prints. */
  get info() {
    this.#info ??= this.#call('info', () => {}, readInfo);
    return structuredClone(this.#info);
  }

  /** Bytes of memory that the model takes now: the file, what opening filled, and scratch. */
  get memoryBytes() {
    if (this.#wasm === undefined) return 0;
    return this.#wasm.memory.buffer.byteLength;
  }
}
