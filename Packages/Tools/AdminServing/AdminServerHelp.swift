import AdminService
import TomboloHTTP

/// The `--help` text of an admin server.
enum AdminServerHelp {
    static let discussion = """
        ENVIRONMENT
        \(ServerVariable.help(AdminServer.variables))

        PAGES
          http://HOST:PORT/ is the admin panel, for whoever has a login. Over
          networks it takes HTTPS: here, or at a trusted proxy that sets
          X-Forwarded-Proto. See docs/panel.md

        ROUTES
          POST   /login                    {"email": …, "password": …, "code": …}; the
                                           code of those who have a second factor
          GET    /admin/trash              newest first; ?class=&page=, and by
                                           properties such as ?listing=ID: what
                                           links to an object, and itself
          POST   /admin/CLASSES/ID/trash   CLASSES is the name of a class with a
                                           trash, such as listings; an object
                                           takes those along that link to it;
                                           {"reason": …} says why
          POST   /admin/trash/ID/restore   ID of an object, or of a group: what
                                           was trashed together. {"values": {"ID":
                                           {"email": …}}, "leave": ["ID"], "swap":
                                           ["ID"]} settle clashes with live objects
          DELETE /admin/trash/ID           for ever
          POST   /admin/trash/empty        for ever, all that GET /admin/trash lists
                                           with the same ?class=…; ?after= what the
                                           last answer gave as "next"
          GET    /admin/trash/purge        runs of the automatic purge, and what it
                                           kept; POST runs it, {"dryRun": true}
                                           says what it would do
          DELETE /CLASSES/ID               into the trash, for those whom the
                                           rules permit it
          GET    /admin/permissions        which role may do what: the matrix of the
                                           rules, and its version
          PATCH  /admin/permissions        one box: {"role": …, "service": …,
                                           "operation": …, "allowed": …}, If-Match
          POST   /admin/permissions/roles  a further role: {"name": …, "permissions":
                                           {"SERVICE": ["read"]}}; PATCH and DELETE
                                           …/roles/NAME rename and remove it
          GET    /admin/routes             which role may use which of these routes
          GET    /admin/audit              who changed what, newest first; ?class=&object=
                                           &user=&from=&to=&operation=&source=&text=
          GET    /admin/audit/CLASSES/ID   the history of an object; POST …/put-back puts
                                           values of it back
          POST   /roles/transfer           {"scope": ID, "to": USER}: hands an exclusive
                                           role over, such as that of an owner
          POST   /invitations              {"email": …, "role": …, "scope": ID}; GET lists
                                           them; /invitations/ID/resend and …/revoke
          POST   /invitations/accept       {"token": …}, from the invited address;
                                           /invitations/join {"token": …, "password": …}
                                           makes an account for it
          GET    /api/CLASSES              JSON:API for every class: lists, resources,
                                           changes; GET /api/openapi.json has all
                                           of it
          GET    /export/CLASSES           all that a list shows, ?format=csv, json or
                                           ndjson
          POST   /bulk/CLASSES             changes, trashes or restores many at once;
                                           GET /jobs shows how far that is
          POST   /import/CLASSES           a file of CSV or JSON: …/ID/preview says what
                                           it would do, …/ID/start makes it a job
          GET    /health, /ready           for supervisors

        What has been in the trash for 30 days is deleted for ever, by one of the
        admin servers, every hour. The table tombolo.trash_retention has other
        times, by class.

        It follows the models and rules in the database: classes that are added
        or renamed while it runs have routes at once.

        EXAMPLE
          TOKEN=$(curl -s localhost:8081/login -H 'Content-Type: application/json' \\
            -d '{"email": "admin@example.org", "password": "…"}' | jq -r .accessToken)
          curl -s localhost:8081/admin/trash -H "Authorization: Bearer $TOKEN"

        SIGTERM and Ctrl-C stop it: requests under way are answered first.
        """
}
