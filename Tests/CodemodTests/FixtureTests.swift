import Codemod
import Foundation
import Testing

/// Set `TOMBOLO_WRITE_FIXTURES=1` to write the compiled files anew after a change of the codemod.
@Suite struct FixtureTests {
    @Test(arguments: Fixture.all)
    func `The models that are compiled are what the codemod makes of the fixtures now`(_ fixture: Fixture) throws {
        let text = try fixture.rewritten.text
        if ProcessInfo.processInfo.environment["TOMBOLO_WRITE_FIXTURES"] == "1" {
            try Data(text.utf8).write(to: fixture.compiled)
        }
        #expect(try String(contentsOf: fixture.compiled, encoding: .utf8) == text)
    }

    @Test(arguments: Fixture.all)
    func `A second run changes nothing`(_ fixture: Fixture) throws {
        let once = try fixture.rewritten
        let twice = Codemod(fixesQuotes: true).rewrite([SourceFile(path: once.path, text: once.text)])[0]
        #expect(!twice.isChanged)
        #expect(twice.text == once.text)
        #expect(twice.diff.isEmpty)
    }

    @Test(arguments: Fixture.all)
    func `Models of the seeds leave nothing to do by hand`(_ fixture: Fixture) throws {
        #expect(try fixture.rewritten.findings.filter { $0.kind == .warning } == [])
    }

    @Test(arguments: Fixture.all)
    func `The diff leads from the old text to the new one`(_ fixture: Fixture) throws {
        let file = try fixture.rewritten
        #expect(try Patch.apply(file.diff, to: file.original) == file.text)
    }

    @Test func `Files that use property wrappers already are left as they are`() throws {
        let file = try Fixture(name: "Listing").rewritten
        #expect(!file.isChanged)
    }
}
