import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloModel

@testable import AdminPanel

@Suite struct ColumnDefaultsTests {
    @Test(
        "of the default expressions that PostgreSQL prints, only literals are used",
        arguments: [
            ("'draft'::text", "draft"), ("'it''s'::character varying(20)", "it's"), ("''::text", ""), ("10", "10"),
            ("'-5'::integer", "-5"), ("0.5", "0.5"), ("true", "true"), ("now()", nil),
            ("('a'::text || 'b'::text)", nil), ("nextval('ticket_id_seq'::regclass)", nil), ("CURRENT_USER", nil),
            (#"E'a\\b'::text"#, nil),
            ("'a'::text || 'b'::text", nil), ("NULL::text", nil),
        ] as [(String, String?)])
    func literals(expression: String, text: String?) {
        #expect(ColumnDefaults.literal(expression) == text)
    }

    @Test("a new object's form starts with the database's defaults; the address, a copy or the creator override them")
    func form() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                for change in [
                    "currency SET DEFAULT 'EUR'", "min_order SET DEFAULT 2", "is_hidden SET DEFAULT true",
                    "details SET DEFAULT current_user",
                ] {
                    try await fixture.pool.execute("ALTER TABLE ticket ALTER COLUMN \(change)")
                }
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let new = "/panel/new/tickets?f.event=\(fixture.event)"
                var form = PanelRecordTests.fields(try await browser.get(new).text)
                #expect(form["f.currency"] == "EUR" && form["f.minOrder"] == "2" && form["f.isHidden"] == "true")
                // Neither the zero of a required column nor a calculated default is filled in.
                #expect(form["f.quantity"] == "" && form["f.details"] == "")
                let address = PanelRecordTests.fields(try await browser.get("\(new)&f.currency=SEK").text)
                #expect(address["f.currency"] == "SEK")
                let copy = PanelRecordTests.fields(
                    try await browser.get("/panel/new/tickets?copy=\(fixture.tickets[0])").text)
                #expect(copy["f.minOrder"] == "0" && copy["f.isHidden"] == "false", "\(copy)")
                form["f.name"] = "Late"
                form["f.rank"] = "z"
                form["f.kind"] = "paid"
                form["f.minOrder"] = "3"
                form["f.maxOrder"] = "5"
                let made = try await browser.send("/panel/new/tickets", form, token: nil)
                #expect(made.status == 303, "\(made.text)")
                let row = try await fixture.pool.query(
                    "SELECT currency, min_order, is_hidden FROM ticket WHERE name = 'Late'")[0]
                #expect(try row[0].string == "EUR" && row[1].int64 == 3 && row[2].bool)
            }
        }
    }
}
