import Foundation
import Testing
import TomboloHTTP
import TomboloModel

@Suite struct WordingJSONTests {
    @Test("a text arrives unchanged at another server")
    func roundTrip() throws {
        let reason = Wording("no rule of the role '\(name: "guest")' allows it")
        let wording = Wording("Not permitted to \(name: "read", context: "may …") this \("Note {1}"): \(reason).")
        let bytes = try JSONEncoder().encode(wording.json)
        #expect(Wording(json: try JSONDecoder().decode(JSON.self, from: bytes)) == wording)
        #expect(Wording(json: Wording("No values").json) == Wording("No values"))
    }

    @Test(
        "other JSON isn't decoded as a text",
        arguments: [
            JSON.null, .string("x"), .array([]), .object([:]), .object(["pattern": .string("x")]),
            .object(["pattern": .int(1), "values": .array([])]),
            .object(["pattern": .string("{0}"), "values": .array([.int(1)])]),
            .object(["pattern": .string("{0}"), "values": .array([.object(["pattern": .string("y")])])]),
        ])
    func others(json: JSON) {
        #expect(Wording(json: json) == nil)
        #expect(Wording(json: nil) == nil)
    }
}
