"""The script that anyone would write in Python: requests, sqlite3, executemany, a transaction a page."""
import json
import resource
import sqlite3
import sys
import time

import requests

url, file = sys.argv[1], sys.argv[2]
session = requests.Session()
db = sqlite3.connect(file)
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA synchronous = NORMAL")
db.executescript("""
CREATE TABLE lead (id TEXT PRIMARY KEY, pipeline_id TEXT, status TEXT, company_name TEXT, company_domain TEXT,
  company_industry TEXT, company_employees INTEGER, company_country TEXT, contact_name TEXT, contact_email TEXT,
  score INTEGER, value_amount REAL, source TEXT, created_at TEXT, updated_at TEXT, raw TEXT);
CREATE INDEX by_status ON lead (status, updated_at);
CREATE INDEX by_pipeline ON lead (pipeline_id, status);
CREATE INDEX by_score ON lead (score);
""")


def row(lead):
    company, contact, value = lead["company"], lead["contact"] or {}, lead["value"] or {}
    return (
        lead["id"], lead["pipeline_id"], lead["status"], company["name"], company["domain"], company["industry"],
        company["employees"], company["country"], contact.get("name"), contact.get("email"), lead["score"],
        value.get("amount"), lead["source"], lead["created_at"], lead["updated_at"],
        json.dumps(lead, separators=(",", ":"), ensure_ascii=False),
    )


def copy():
    cursor = None
    while True:
        params = {"limit": 500} if cursor is None else {"limit": 500, "cursor": cursor}
        body = session.get(f"{url}/v1/api/v1/leads", params=params).json()
        with db:
            db.executemany(
                f"INSERT OR REPLACE INTO lead VALUES ({','.join('?' * 16)})", [row(lead) for lead in body["data"]]
            )
        cursor = body["page"]["next_cursor"]
        if cursor is None:
            return


for step in ("first", "unchanged"):
    started, cpu = time.monotonic(), time.process_time()
    copy()
    ms, cpu_ms = (time.monotonic() - started) * 1000, (time.process_time() - cpu) * 1000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"step": step, "ms": ms, "cpuMs": cpu_ms, "peakMb": peak}), flush=True)
