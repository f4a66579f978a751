-- Open leads whose company is hiring
-- As enrichment found out, for the leads whose details were read.
SELECT lead.company_name, lead.score, lead.status, detail.open_roles, detail.funding_stage, detail.technologies
FROM lead_detail AS detail
JOIN lead_now AS lead ON lead.id = detail.lead_id
WHERE detail.is_hiring = 1 AND lead.outcome = 'open'
ORDER BY detail.open_roles DESC
LIMIT 20;
