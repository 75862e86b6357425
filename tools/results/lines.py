"""Reads the committed result files (docs/results) and adds to every run where it comes from."""
import csv
import dataclasses
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "results"


@dataclasses.dataclass
class Run:
    """One line of a result file. `fields` is the line itself; `report` is empty if it holds none."""
    file: str
    fields: dict
    report: dict
    options: list
    data: str
    backbone: str
    method: str
    budget: str  # as requested; empty if none
    seed: int
    device: str
    commit: str = ""
    date: str = ""
    variant: str = ""  # what sets the run apart from others of its method

    def recall(self, part="test"):
        return self.report[part]["recall@20"]

    def ndcg(self, part="test"):
        return self.report[part]["ndcg@20"]


def read(name):
    """The runs of a file below docs/results: results.csv of `bet compare` and `bet experiment`, .jsonl or .json."""
    path = FOLDER / name
    if path.suffix == ".csv":
        return [_run_of_row(name, row) for row in rows_of(name)]
    text = path.read_text()
    lines = [json.loads(text)] if path.suffix == ".json" else list(map(json.loads, text.splitlines()))
    source = json.loads((FOLDER / "sources.json").read_text())[name]
    return [_run(name, line, source) for line in lines]


def text_file(name):
    """The text of a result file and a Run that says where it comes from."""
    source = json.loads((FOLDER / "sources.json").read_text())[name]
    return (FOLDER / name).read_text(), _run(name, {}, source)


def _run(name, fields, source):
    report = fields.get("report") or (fields if "dataset" in fields else {})
    command = fields.get("command", [])
    options = command if isinstance(command, list) else command.split()
    run = Run(file=name, fields=fields, report=report, options=options,
              data=report["dataset"]["name"] if report else fields.get("data", ""),
              backbone=report.get("backbone", fields.get("backbone", "")),
              method=report.get("method", fields.get("method", "")),
              budget=(report.get("budget") or {}).get("requested", ""),
              seed=report.get("seed", fields.get("seed", 1)),
              device=source.get("device") or report.get("device") or fields.get("gpu", ""))
    if run.device == "cpu":
        run.device = f"{report['threads']} CPU cores"
    # A line that says its own commit needs no rule.
    rule = fields if "commit" in fields else next(r for r in source["runs"] if _matches(run, r))
    run.commit, run.date = rule["commit"], rule.get("date", "")
    return run


def _run_of_row(name, row):
    """A line of results.csv, which says its own commit; its report has what the tables read."""
    metrics = {part: {key.removeprefix(part + "_"): float(value) for key, value in row.items()
                      if key.startswith(part + "_") and value}
               for part in ("validation", "test")}
    used = {key: int(row[key]) for key in ("params", "bytes", "file_bytes")} | {"share": float(row["share"]),
                                                                                "precision": row["precision"]}
    report = metrics | {"used": used, "seconds": {"total": float(row["seconds"])}}
    return Run(file=name, fields=row, report=report, options=[], data=row["data"], backbone=row["backbone"],
               method=row["method"], budget=row["budget"], seed=int(row["seed"]), device=row["device"],
               commit=row["commit"], variant=row["variant"])


def _matches(run, rule):
    for key, wanted in rule.get("where", {}).items():
        if key == "option":
            if wanted not in run.options:
                return False
            continue
        value = run.fields[key] if key == "variant" else getattr(run, key)
        if value not in (wanted if isinstance(wanted, list) else [wanted]):
            return False
    return True


def select(runs, **wanted):
    return [run for run in runs if all(getattr(run, key) == value for key, value in wanted.items())]


def one(runs, **wanted):
    """The only run with these fields, or None."""
    found = select(runs, **wanted)
    if len(found) > 1:
        raise ValueError(f"{len(found)} runs with {wanted}, first in {found[0].file}")
    return found[0] if found else None


def rows_of(name):
    """The lines of a CSV file below docs/results."""
    with (FOLDER / name).open(newline="") as file:
        return list(csv.DictReader(file))


class Paper:
    """The paper's Table 1, which gives the share that is removed: 95% is a budget of 5%."""

    def __init__(self):
        rows, misprints = map(rows_of, ("paper-table1.csv", "paper-misprints.csv"))
        self._misprints = {tuple(row[key] for key in ("dataset", "backbone", "method", "metric", "printed")):
                           row["meant"] for row in misprints}
        self._rows = {}
        for row in rows:
            budget = f"{100 - int(row['sparsity'].rstrip('%'))}%"
            self._rows[row["dataset"], row["backbone"], row["method"], budget] = row
            # The methods without a budget have one row each, found without its size.
            if row["method"] in ("esapn", "optembed"):
                self._rows[row["dataset"], row["backbone"], row["method"], ""] = row | {"share": budget}

    def value(self, data, backbone, method, budget, metric="recall@20"):
        row = self._rows.get((data, backbone, method, budget))
        if row is None:
            return ""
        meant = self._misprints.get((data, backbone, method, metric, row[metric]))
        return f"({meant})" if meant else row[metric]

    def share(self, data, backbone, method):
        return self._rows[data, backbone, method, ""]["share"]
