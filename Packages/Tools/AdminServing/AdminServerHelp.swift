import AdminService
import TomboloHTTP

/// The `--help` text of an admin server.
enum AdminServerHelp {
    static let discussion = """
        ENVIRONMENT
        \(ServerVariable.help(AdminServer.variables))

        PAGES
          http://HOST:PORT/ is the admin panel, for everyone with a login. Over
          a network it requires HTTPS: here, or at a trusted proxy that sets
          X-Forwarded-Proto. See docs/panel.md

        ROUTES
          POST   /login                    {"email": …, "password": …, "code": …};
                                           accounts with a second factor need the
                                           code
          GET    /admin/trash              newest first; ?class=&page=, and by
                                           properties such as ?listing=ID: an
                                           object and what links to it
          POST   /admin/CLASSES/ID/trash   CLASSES is the name of a class with a
                                           trash, such as listings; what links to
                                           the object goes along; {"reason": …}
                                           says why
          POST   /admin/trash/ID/restore   ID of an object, or of a group that was
                                           trashed together. {"values": {"ID":
                                           {"email": …}}, "leave": ["ID"], "swap":
                                           ["ID"]} settle clashes with live objects
          DELETE /admin/trash/ID           deletes permanently
          POST   /admin/trash/empty        deletes permanently everything that GET
                                           /admin/trash lists with the same
                                           ?class=…; ?after= is "next" of the last
                                           answer
          GET    /admin/trash/purge        runs of the automatic purge, and what it
                                           kept; POST runs it, {"dryRun": true}
                                           says what it would do
          DELETE /CLASSES/ID               moves to the trash, if the rules permit
                                           it
          GET    /admin/permissions        which role may do what: the matrix of the
                                           rules, and its version
          PATCH  /admin/permissions        one box: {"role": …, "service": …,
                                           "operation": …, "allowed": …}, If-Match
          POST   /admin/permissions/roles  a new role: {"name": …, "permissions":
                                           {"SERVICE": ["read"]}}; PATCH and DELETE
                                           …/roles/NAME rename and remove it
          GET    /admin/routes             which role may use which of these routes
          GET    /admin/audit              who changed what, newest first; ?class=&object=
                                           &user=&from=&to=&operation=&source=&text=
          GET    /admin/audit/CLASSES/ID   the history of an object; POST …/put-back
                                           restores earlier values
          POST   /roles/transfer           {"scope": ID, "to": USER}: hands over an
                                           exclusive role, such as owner
          POST   /invitations              {"email": …, "role": …, "scope": ID}; GET lists
                                           them; /invitations/ID/resend and …/revoke
          POST   /invitations/accept       {"token": …}, from the invited address;
                                           /invitations/join {"token": …, "password": …}
                                           makes an account for it
          GET    /api/CLASSES              JSON:API for every class: lists, resources,
                                           changes; GET /api/openapi.json describes
                                           all of it
          GET    /export/CLASSES           everything that a list shows, ?format=csv,
                                           json or ndjson
          POST   /bulk/CLASSES             changes, trashes or restores many objects;
                                           GET /jobs shows the progress
          POST   /import/CLASSES           a CSV or JSON file: …/ID/preview says what
                                           it would do, …/ID/start makes it a job
          GET    /health, /ready           for supervisors

        Every hour, one of the admin servers permanently deletes what has been in
        the trash for 30 days. The table tombolo.trash_retention can set other
        times for each class.

        The server follows the models and rules in the database: classes that are
        added or renamed while it runs get their routes at once.

        EXAMPLE
          TOKEN=$(curl -s localhost:8081/login -H 'Content-Type: application/json' \\
            -d '{"email": "admin@example.org", "password": "…"}' | jq -r .accessToken)
          curl -s localhost:8081/admin/trash -H "Authorization: Bearer $TOKEN"

        SIGTERM and Ctrl-C stop it, after it has answered requests in progress.
        """
}
