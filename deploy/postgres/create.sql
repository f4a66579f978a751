-- Run by the image of PostgreSQL when its volume is new: the user of leadsheet, who is no superuser, and its database.
\set password `cat /run/secrets/store-password`
CREATE ROLE leadsheet LOGIN PASSWORD :'password';
CREATE DATABASE leadsheet OWNER leadsheet;
