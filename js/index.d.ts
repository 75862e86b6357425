/** Ids are texts; integers are taken as their decimal texts. */
export type Id = string | number | bigint;

export interface ScoredItem {
  item: string;
  score: number;
}

/** Which items may be in an answer. */
export interface ItemOptions {
  /** At most so many items, fewer where there are no more; 10. */
  k?: number;
  /** None of these. Unknown ids are ignored. */
  exclude?: Iterable<Id>;
  /** No others. Unknown ids are ignored. */
  only?: Iterable<Id>;
  /** No items whose score is below. */
  minScore?: number;
  /** Also items that the user had in training, or that were given; false. */
  includeSeen?: boolean;
}

export interface IdOptions {
  /** How the ids begin; '' for all. */
  prefix?: string;
  /** At most so many; 20. */
  limit?: number;
}

export interface Ids {
  ids: string[];
  /** How many ids there are in all. */
  total: number;
}

export interface Budget {
  requested: string;
  for: 'table' | 'file';
  unit: 'parameters' | 'bytes';
  of: 'trained table' | 'rows as stored' | 'file';
  allowed: number;
  used: number;
  kept: boolean;
}

/** What `bet-serve inspect --json` prints. */
export interface Info {
  backbone: 'mf' | 'lightgcn' | 'ngcf' | 'ncf';
  serving: 'materialised' | 'graph';
  /** Of the users' rows. */
  precision: string;
  item_precision: string;
  layout: 'prefix' | 'masked';
  score: 'dot' | 'cosine';
  users: number;
  items: number;
  interactions: number;
  /** Of the vectors; 0 with ncf, which has none. */
  dimension: number;
  row_width: number;
  max_dim: number;
  holds: 'trained table' | 'propagated vectors';
  /** Of the rows. */
  values: number;
  /** Of the trained table; null where the file does not say. */
  params: number | null;
  table_bytes: number;
  file_bytes: number;
  /** Memory that opening filled beside the file's own bytes. */
  opened_bytes: number;
  /** Every part of the file; the bytes add up to `file_bytes`. */
  sections: { name: string; bytes: number }[];
  /** How many rows there are of each size. */
  user_sizes: Record<string, number>;
  item_sizes: Record<string, number>;
  /** null where there are no users. */
  example_user: string | null;
  /** What the file records about its training. */
  facts: Record<string, string | number>;
  /** null where the file does not say. */
  budget: Budget | null;
}

export type ErrorKind =
  | 'bad_input' // a file that cannot be used, an argument that makes no sense, a closed model
  | 'not_found' // an unknown user or item, no such file
  | 'budget'
  | 'interrupted'
  | 'internal'; // no memory, or a defect

export class BetError extends Error {
  constructor(message: string, kind?: ErrorKind, options?: { cause?: unknown });
  readonly name: 'BetError';
  kind: ErrorKind;
}

/** An address (in Node also a path), or the bytes themselves. */
export type Source = string | URL | ArrayBuffer | ArrayBufferView | Blob | Response;

export interface OpenOptions {
  /**
   * The runtime itself, bet.wasm or bet-simd.wasm, where it is not next to index.js. Without it the
   * one that the engine runs is loaded from there.
   */
  wasm?: Source | WebAssembly.Module;
}

/** An open model. Calls are synchronous and throw a BetError. */
export class Model {
  private constructor();

  static open(source: Source, options?: OpenOptions): Promise<Model>;

  /** Lets go of the memory. Without it the garbage collector does, once the model is not reachable. */
  close(): void;

  /** The best items for a user, best first. */
  recommend(user: Id, options?: ItemOptions): ScoredItem[];
  /** The best items for somebody who has these items. Unknown ones are left out; if all are, it is an error. */
  recommendFor(items: Iterable<Id>, options?: ItemOptions): ScoredItem[];
  /** The items most similar to one, which is left out itself. */
  similar(item: Id, options?: ItemOptions): ScoredItem[];
  /** The items that most users have, by their number. An error where the file has no interactions. */
  popular(options?: ItemOptions): ScoredItem[];
  /** The scores of these items for a user, in their order; NaN for unknown items. */
  scores(user: Id, items: Iterable<Id>): number[];
  /** The items that a user had in training; empty where the file does not have them. */
  seen(user: Id): string[];

  hasUser(user: Id): boolean;
  hasItem(item: Id): boolean;
  users(options?: IdOptions): Ids;
  items(options?: IdOptions): Ids;

  readonly info: Info;
  /** The memory that the model takes now: runtime, file, what opening filled, and scratch. */
  readonly memoryBytes: number;
}
