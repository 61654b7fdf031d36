import Testing
import TomboloHTTP

@testable import AdminPanel

@Suite struct JobContentTests {
    @Test("a job's page shows what it did to embedded objects and lists of links")
    func changes() {
        func linked(_ ids: String...) -> JSON {
            ["data": .array(ids.map { ["type": "speakers", "id": .string($0)] })]
        }
        let after: JSON = [
            "attributes": ["home": ["town": "Kiel"], "title": "New", "state": "accepted"],
            "relationships": ["room": ["data": ["type": "rooms", "id": "r"]], "speakers": linked("a", "b")],
        ]
        let before: JSON = [
            "attributes": ["home": nil, "title": "Old", "state": "accepted"],
            "relationships": ["room": ["data": nil], "speakers": linked()],
        ]
        let row: JSON = ["number": 1, "id": "x", "outcome": "done", "before": before, "after": after]
        let job: JSON = ["id": 7, "kind": "update", "state": "done", "arguments": ["data": after]]
        let content = JobContent(job, ["rows": [row]], outcome: nil, titles: ChoiceTitles(), type: nil)
        #expect(
            content.rows.first?.changes == [
                #"Home: none → {"town":"Kiel"}"#, "Title: Old → New", "Room: none → r", "Speakers: none → a, b",
            ])
        #expect(content.sets.contains("Room: r") && content.sets.contains("Speakers: a, b"), "\(content.sets)")
    }
}
