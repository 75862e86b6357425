"""What the tables of the documentation are made of: Markdown, numbers with their spread, and where they come from."""
import statistics

NAMES = {"gowalla": "Gowalla", "yelp2018": "Yelp2018", "lightgcn": "LightGCN", "ngcf": "NGCF",
         "ncf": "NCF", "mf": "MF"}


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def percent(text):
    """"5%" -> "5 %"."""
    return text.replace("%", " %")


def unique(values):
    return list(dict.fromkeys(values))


def commits(runs):
    return ", ".join(unique(run.commit for run in runs))


def seed_text(runs):
    by_data = {}
    for run in runs:
        by_data.setdefault(NAMES.get(run.data, run.data), set()).add(run.seed)
    groups = {data: ", ".join(map(str, sorted(seeds))) for data, seeds in by_data.items()}
    if set(groups.values()) == {"1"}:
        return "Seed 1, one run for each figure, so no spread. "
    if len(set(groups.values())) == 1:
        return f"Seeds {next(iter(groups.values()))}. "
    return f"Seeds {'; '.join(f'{seeds} ({data})' for data, seeds in groups.items())}. "


def footer(runs, folder="results", timing=False):
    """A line below a table: seeds and spread (unless it has times alone), device, commits and files."""
    dated = unique(f"{run.commit} ({run.date})" if run.date else run.commit for run in runs)
    links = [f"[{name}]({folder}/{name})" for name in unique(run.file for run in runs)]
    torch = unique(run.report["versions"]["torch"] for run in runs if "versions" in run.report)
    library = f", LibTorch {' and '.join(torch)}" if torch else ""
    return (f"*{'' if timing else seed_text(runs)}"
            f"Device: {' and '.join(unique(run.device for run in runs))}{library}. "
            f"{'Commit' if len(dated) == 1 else 'Commits'}: {', '.join(dated)}. "
            f"{'File' if len(links) == 1 else 'Files'}: {', '.join(links)}.*")


def table(header, rows, runs, folder="results", timing=False):
    return markdown(header, rows) + "\n\n" + footer(runs, folder, timing)


def mean_spread(values):
    """Mean, and standard deviation over the seeds in percent of it."""
    mean = statistics.mean(values)
    if len(values) == 1:
        return f"{mean:.4f} (one seed)"
    return f"{mean:.4f} ± {100 * statistics.pstdev(values) / mean:.1f} %"
