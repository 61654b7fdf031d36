import AdminService
import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
@testable import TomboloJSONAPI
import TomboloModel
import TomboloRules

@Suite("Dry runs of bulk actions block nobody")
struct DryRunTests {
    @Test("a dry run waits for nobody: locked rows are skipped, and don't count as refused")
    func busyRows() async throws {
        try await BulkTests.run { site in
            try await site.addTickets(5)
            try await site.fixture.pool.transaction { holder in
                try await holder.execute("SELECT 1 FROM ticket WHERE name = 'n3' FOR UPDATE")
                var checked: Int64 = 0
                // On a busy machine, the time limit may end a dry run before it has tried every row.
                while checked < 4 {
                    let trial = try await site.call(
                        .post, BulkTests.all, as: "owner", body: BulkTests.price(7, #""dryRun": true"#))
                    try #require(trial.status == 200 && trial.json["count"] == 5, "\(trial.text)")
                    #expect(trial.json["refused"] == 0, "\(trial.text)")
                    checked = try #require(trial.json["checked"]?.number)
                }
                #expect(checked == 4)
            }
        }
    }

    @Test("a dry run of many rows rolls back the first ones, releasing their locks, before it tries the next")
    func shortTransactions() async throws {
        try await BulkTests.run { site in
            try await site.addTickets(5)
            // Fails if another row has been changed in the same transaction.
            try await site.fixture.pool.execute(
                """
                CREATE FUNCTION public.see() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN
                    IF (SELECT count(*) FROM public.ticket WHERE price = 7) > 1 THEN
                        RAISE EXCEPTION 'only one ticket costs 7' USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NULL;
                END$$;
                CREATE TRIGGER see AFTER UPDATE ON ticket FOR EACH ROW EXECUTE FUNCTION public.see()
                """)
            let rules = site.fixture.rules
            let (pool, types) = (site.fixture.adminServer.pool, ResourceTypes(rules.schema))
            let owner = try #require(site.fixture.users["owner"])
            let view = CallerView(
                subject: try await site.fixture.adminServer.authenticator.subject(of: owner), rules: rules, types: types
            )
            let type = try #require(types["tickets"])
            let worker = try JobWorker(
                .update, ["data": ["attributes": ["price": .int(7)]]], of: type, for: view, BulkTrash.of(pool))
            let keys = try await pool.query("SELECT encode(_id, 'hex') FROM ticket WHERE name LIKE 'n%'")
                .map { try $0[0].string }
            let together = try await BulkTrial.run(worker, keys, pool, holdTime: .seconds(3_600))
            #expect(together.checked == 5 && together.refused == 4)
            let apart = try await BulkTrial.run(worker, keys, pool, holdTime: .zero)
            #expect(apart.checked == 5 && apart.refused == 0)
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE price = 7") == 0)
        }
    }
}
