import Codemod
import Foundation
import Testing

/// Set `TOMBOLO_WRITE_FIXTURES=1` to rewrite the compiled files after changing the codemod.
@Suite struct FixtureTests {
    @Test(arguments: Fixture.all)
    func `The compiled models are the codemod's current output for the fixtures`(_ fixture: Fixture) throws {
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
    func `The seeds' models leave nothing to do by hand`(_ fixture: Fixture) throws {
        #expect(try fixture.rewritten.findings.filter { $0.kind == .warning } == [])
    }

    @Test(arguments: Fixture.all)
    func `Applying the diff to the old text gives the new one`(_ fixture: Fixture) throws {
        let file = try fixture.rewritten
        #expect(try Patch.apply(file.diff, to: file.original) == file.text)
    }

    @Test func `Files that already use property wrappers are left unchanged`() throws {
        let file = try Fixture(name: "Listing").rewritten
        #expect(!file.isChanged)
    }
}
