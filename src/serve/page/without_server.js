// The page without a server (`bet-serve page`): answers what index.html asks of its `api` from the
// model in this browser, by the npm package bet-runtime. The files beside this one are scripts,
// because a page that was opened from the disk may load scripts and fetch nothing.
'use strict';
(() => {
  const kMostItems = 1000, kMostGiven = 1000;
  const loaded = new Map();
  globalThis.bet_file = (name, data) => loaded.set(name, data);  // what these scripts call

  function load(name) {
    const script = document.createElement('script');
    script.src = `${name}.js`;
    return new Promise((resolve, reject) => {
      script.onload = () => {
        script.remove();
        resolve(loaded.get(name));
        loaded.delete(name);
      };
      const problem = Error(`The page is not complete: ${name}.js cannot be loaded.`);
      script.onerror = () => reject(problem);
      document.head.append(script);
    });
  }

  function bytes_of(base64) {
    return Uint8Array.fromBase64?.(base64) ??
           Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  }

  // A function of one `v128.const`: valid where the engine has SIMD.
  const has_simd = WebAssembly.validate(Uint8Array.of(
    0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 23, 1, 21, 0,
    253, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 26, 11));

  async function load_runtime() {
    const source = new Blob([await load('runtime')], { type: 'text/javascript' });
    const url = URL.createObjectURL(source);
    try {
      return await import(url);
    } finally {
      URL.revokeObjectURL(url);
    }
  }

  // The model, what GET /model answers, and titles by id, if there are any.
  async function open() {
    const wasm_file = has_simd ? 'bet-simd.wasm' : 'bet.wasm';
    const [{ Model }, wasm, model, about] =
      await Promise.all([load_runtime(), load(wasm_file), load('model'), load('about')]);
    const titles = about.titles === undefined ? null : new Map(await load('titles'));
    const opened = await Model.open(bytes_of(model), { wasm: bytes_of(wasm) });
    return { model: opened, about, titles, folded: folded_titles(opened, titles) };
  }

  // Titles as they are compared: as src/serve/folded_text.h has it.
  const kLetters = { 'ß': 'ss', 'æ': 'ae', 'œ': 'oe', 'ø': 'o', 'đ': 'd', 'ð': 'd', 'ħ': 'h',
                     'ı': 'i', 'ł': 'l', 'ŋ': 'n', 'ŧ': 't', 'þ': 'th' };
  const folded = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
    .replace(/[ßæœøđðħıłŋŧþ]/g, (letter) => kLetters[letter]);

  // [id, folded title] of the items of the model, in the order of the titles.
  function folded_titles(model, titles) {
    return [...titles ?? []].filter(([id]) => model.hasItem(id))
      .map(([id, title]) => [id, folded(title)]);
  }

  const with_title = (titles) => (entry) => {
    const { item, ...rest } = entry;
    const title = titles?.get(item);
    return title === undefined ? entry : { item, title, ...rest };
  };
  const titles_of = (titles, ids) => ids.map((id) => titles.get(id) ?? null);

  function integer(query, name, usual) {
    const text = query.get(name) ?? usual;
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value >= 1 && value <= kMostItems) return value;
    throw Error(`${name} is ${text}, not 1 to ${kMostItems}`);
  }

  // Ids that begin with the text; with titles first what src/serve/item_search.h finds.
  function find_items({ model, folded: known }, query) {
    const text = query.get('q') ?? '', limit = integer(query, 'limit', '20');
    const phrase = folded(text).trim(), words = phrase.split(' ').filter((word) => word !== '');
    const ranks = [[], [], [], [], []], found = new Set();
    const starts = (title, word) => {
      for (let at = title.indexOf(word); at >= 0; at = title.indexOf(word, at + 1)) {
        if (at === 0 || !/[a-z0-9\u0080-\uffff]/.test(title[at - 1])) return true;
      }
      return false;
    };
    for (const [id, title] of words.length > 0 ? known : []) {
      if (!words.every((word) => title.includes(word))) continue;
      const begins = words.every((word) => starts(title, word));
      found.add(id);
      ranks[id === text ? 0 : title.startsWith(phrase) ? 1 : begins ? 2 : 3].push(id);
    }
    const twice = [...found].filter((id) => id.startsWith(text)).length;
    if (model.hasItem(text) && !found.has(text)) ranks[0].push(text);
    const { ids, total } = model.items({ prefix: text, limit: limit + twice + 1 });
    ranks[4] = ids.filter((id) => id !== text && !found.has(id));
    const items = ranks.flat().slice(0, limit).map((item) => ({ item }));
    return { items, total: found.size + total - twice };
  }

  function recommend_for({ model }, { items, k }) {
    if (items.length > kMostGiven) throw Error(`items has more than ${kMostGiven} entries`);
    const unknown = items.filter((item) => !model.hasItem(item));
    const best = model.recommendFor(items, { k });
    return { given: items, items: best, ...unknown.length > 0 ? { unknown } : {} };
  }

  const routes = {
    '/model': ({ about }) => about,
    '/users': ({ model }, query) => {
      const limit = integer(query, 'limit', '20');
      const { ids, total } = model.users({ prefix: query.get('prefix') ?? '', limit });
      return { users: ids, total };
    },
    '/items': find_items,
    '/popular': ({ model }, query) => ({ items: model.popular({ k: integer(query, 'k', '10') }) }),
    '/seen': ({ model }, query) => {
      const user = query.get('user');
      return { user, items: model.seen(user) };
    },
    '/similar': ({ model }, query) => {
      const item = query.get('item');
      return { item, items: model.similar(item, { k: integer(query, 'k', '10') }) };
    },
    '/recommend': (all, query, body) => {
      if (body) return recommend_for(all, body);
      const user = query.get('user'), k = integer(query, 'k', '10');
      const includeSeen = query.get('include_seen') === '1';
      return { user, items: all.model.recommend(user, { k, includeSeen }) };
    },
  };

  // As src/serve/answer_titles.h has it.
  function add_titles(answer, titles) {
    if (titles === null || !Array.isArray(answer.items)) return answer;
    const is_ids = typeof answer.items[0] === 'string';
    const result = with_title(titles)({ ...answer });
    if (is_ids) result.titles = titles_of(titles, answer.items);
    else result.items = answer.items.map(with_title(titles));
    if (answer.given) result.given_titles = titles_of(titles, answer.given);
    return result;
  }

  let opened;
  globalThis.bet_api = async (path, body) => {
    opened ??= open();
    const all = await opened;
    const [route, query] = path.split('?');
    return add_titles(routes[route](all, new URLSearchParams(query), body), all.titles);
  };
})();
