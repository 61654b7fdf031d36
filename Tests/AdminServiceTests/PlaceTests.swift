import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

/// Geographic points under `/api`.
@Suite struct PlaceTests {
    @Test("impossible degrees are refused with the possible range; existing values stay")
    func bounds() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let path = "/api/events/\(fixture.event)"
            func patch(_ attributes: String) async throws -> Answer {
                let body = #"{"data": {"type": "events", "id": "\#(fixture.event)", "attributes": \#(attributes)}}"#
                return try await call(
                    .patch, path, as: "owner", body: body, type: "application/vnd.api+json")
            }
            for (name, degrees, range) in [
                ("latitude", "90.5", "from -90 to 90"), ("latitude", "-91", "from -90 to 90"),
                ("longitude", "180.000001", "from -180 to 180"), ("longitude", "-1e300", "from -180 to 180"),
            ] {
                let refused = try await patch(#"{"\#(name)": \#(degrees)}"#)
                let problem = refused.json["errors"]?.list.first
                #expect(refused.status == 422, "\(refused.text)")
                #expect(problem?["source"]?["pointer"] == .string("/data/attributes/\(name)"), "\(refused.text)")
                #expect(problem?["meta"]?["remedy"]?.text?.contains(range) == true, "\(refused.text)")
            }
            for degrees in [#"{"latitude": -90, "longitude": 180}"#, #"{"latitude": null, "longitude": null}"#] {
                #expect(try await patch(degrees).status == 200)
            }
            try await fixture.pool.execute("UPDATE event SET latitude = 95, longitude = 13")
            #expect(try await patch(#"{"longitude": 14}"#).status == 200)
            #expect(try await patch(#"{"latitude": 95}"#).status == 422)
        }
    }

    @Test("the API description has the bounds")
    func description() async throws {
        try await JSONAPIReadingTests.run { _, call in
            let answer = try await call(.get, "/api/openapi.json", as: "admin")
            let event = answer.json["components"]?["schemas"]?["events"]?["properties"]?["attributes"]?["properties"]
            let latitude = event?["latitude"]
            let bounds = [latitude?["minimum"], latitude?["maximum"]]
            #expect(bounds == [-90, 90] || bounds == [.double(-90), .double(90)], "\(String(describing: latitude))")
            #expect(event?["longitude"]?["minimum"] != nil && event?["name"]?["minimum"] == nil)
        }
    }
}
