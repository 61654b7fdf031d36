import Testing

@testable import AdminPanel

@Suite struct LineDiffTests {
    private func text(_ diff: LineDiff?) -> [String]? {
        diff?.lines.map { line in
            switch line.kind {
            case .same: " \(line.text)"
            case .added: "+\(line.text)"
            case .removed: "-\(line.text)"
            case .gap: "…"
            }
        }
    }

    @Test("identical texts have no changed lines")
    func same() { #expect(text(LineDiff(from: "a\nb", to: "a\nb")) == []) }

    @Test("a changed line is shown with the lines around it, and distant lines are left out")
    func context() {
        let old = (1...20).map { "line \($0)" }
        var new = old
        new[9] = "another"
        new.append("more")
        let diff = LineDiff(from: old.joined(separator: "\n"), to: new.joined(separator: "\n"))
        #expect(
            text(diff) == [
                "…", " line 7", " line 8", " line 9", "-line 10", "+another", " line 11", " line 12", " line 13", "…",
                " line 18", " line 19", " line 20", "+more",
            ])
        #expect(diff?.added == 2 && diff?.removed == 1)
        #expect(diff?.lines.first { $0.kind == .added }?.newNumber == 10)
    }

    @Test("applying a difference gives the newer text", arguments: 0..<50)
    func replay(seed: Int) {
        var state = UInt64(seed) &* 6_364_136_223_846_793_005 &+ 1
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let old = (0..<random(12)).map { _ in "\(random(4))" }
        let new = (0..<random(12)).map { _ in "\(random(4))" }
        guard let diff = LineDiff(from: old.joined(separator: "\n"), to: new.joined(separator: "\n")) else { return }
        let all = diff.lines.contains { $0.kind == .gap }
        if all || diff.lines.isEmpty { return }
        #expect(
            diff.lines.filter { $0.kind != .removed }.map(\.text).joined(separator: "\n")
                == new.joined(separator: "\n"))
        #expect(
            diff.lines.filter { $0.kind != .added }.map(\.text).joined(separator: "\n") == old.joined(separator: "\n"))
    }

    @Test("texts that are too different aren't compared, since that could take minutes")
    func bound() {
        let old = (0...LineDiff.changeLimit).map { "a\($0)" }.joined(separator: "\n")
        #expect(LineDiff(from: old, to: "b") == nil)
    }
}
