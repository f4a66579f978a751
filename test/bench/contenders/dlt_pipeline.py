"""The same first sync by dlt: its REST source, merged into SQLite."""
import json
import resource
import sys
import time

import dlt
from dlt.sources.rest_api import rest_api_source

url, file = sys.argv[1], sys.argv[2]
source = rest_api_source({
    "client": {
        "base_url": f"{url}/v1/api/v1/",
        "paginator": {"type": "cursor", "cursor_path": "page.next_cursor", "cursor_param": "cursor"},
    },
    "resources": [{
        "name": "lead",
        "primary_key": "id",
        "write_disposition": "merge",
        "endpoint": {"path": "leads", "params": {"limit": 500}, "data_selector": "data"},
    }],
}, max_table_nesting=0)
pipeline = dlt.pipeline(
    "bench", destination=dlt.destinations.sqlalchemy(f"sqlite:///{file}"), dataset_name="main", pipelines_dir=f"{file}-dlt",
)


def cpu():
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


started, cpu_before = time.monotonic(), cpu()
pipeline.run(source)
ms, cpu_ms = (time.monotonic() - started) * 1000, (cpu() - cpu_before) * 1000
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"step": "first", "ms": ms, "cpuMs": cpu_ms, "peakMb": peak}), flush=True)
