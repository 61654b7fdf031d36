import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

/// Values that a trigger in the app's database refuses, over JSON:API.
@Suite struct SensibleValuesTests {
    @Test("an impossible value is refused at its attribute, in the trigger's words")
    func refused() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            for (type, id, attributes, place, sentence) in [
                (
                    "events", fixture.event, #""endsAt": "2020-01-01T00:00:00Z""#, "endsAt",
                    "The event ends before it starts."
                ),
                ("tickets", fixture.tickets[0], #""name": "Free", "price": -100"#, "price", "The price is negative."),
                (
                    "tickets", fixture.tickets[0], #""minOrder": 5"#, "minOrder",
                    "The smallest order is larger than the largest."
                ),
            ] {
                let body = #"{"data": {"type": "\#(type)", "id": "\#(id)", "attributes": {\#(attributes)}}}"#
                let answer = try await call(
                    .patch, "/api/\(type)/\(id)", as: "owner", body: body, type: "application/vnd.api+json")
                let problem = JSONAPIReadingTests.problem(answer)
                #expect(answer.status == 422 && answer.text.contains(sentence), "\(answer.text)")
                #expect(problem["source"]?["pointer"]?.text == "/data/attributes/\(place)", "\(problem)")
            }
            let names = try await fixture.pool.query("SELECT count(*) FROM ticket WHERE name = 'Free'")
            #expect(try names[0, 0].int == 0)
        }
    }
}
