import Testing
import TomboloChangesets

@Suite struct SnapshotTests {
    @Test("PostgreSQL's text form is parsed and written")
    func text() {
        let snapshot = Snapshot(text: "10:20:11,15")
        #expect(snapshot == Snapshot(xmin: 10, xmax: 20, running: [11, 15]))
        #expect(snapshot?.description == "10:20:11,15")
        #expect(Snapshot(text: "10:10:") == Snapshot(xmin: 10, xmax: 10, running: []))
    }

    @Test(
        "Anything else isn't a snapshot",
        arguments: ["", "10", "10:20", "a:20:", "20:10:", "10:20:x", "10:20:11:12", "-1:20:"])
    func badText(text: String) {
        #expect(Snapshot(text: text) == nil)
    }

    @Test("A snapshot sees transactions that had finished and no others")
    func sees() {
        let snapshot = Snapshot(xmin: 10, xmax: 20, running: [11])
        #expect(snapshot.sees(9))
        #expect(snapshot.sees(10))
        #expect(!snapshot.sees(11))
        #expect(snapshot.sees(19))
        #expect(!snapshot.sees(20))
        #expect(!Snapshot.empty.sees(1))
    }
}
