import Foundation
import ChildPrograms
import Testing

@testable import SUSI

/// Tests the built program from the outside.
@Suite struct SusiProcessTests {
    private static let answer = #"""
        {"query": "secret question", "query_date": "2026-05-14T13:22:18Z", "answer_date": "2026-05-14T13:22:19Z",
        "answers": [{"data": [{"a": "secret cell"}], "actions": [{"type": "answer", "expression": "secret answer"},
        {"type": "table"}, {"type": "map", "zoom": "far"}, {"type": "timer_set", "time": 5}]}]}
        """#

    private static let shown = [
        "2026-05-14T13:22:18Z  you   secret question", "2026-05-14T13:22:18Z  susi  answer  secret answer",
        "2026-05-14T13:22:18Z  susi  table  1 row: a; secret cell",
        #"2026-05-14T13:22:18Z  susi  map  0.0, 0.0, zoom 13  kept raw: {"type":"map","zoom":"far"}"#,
        #"2026-05-14T13:22:18Z  susi  timer_set  kept raw: {"type":"timer_set","time":5}"#,
    ]

    /// A long timeout, for requests that are answered.
    private static let patience = ["--timeout", "600"]

    @Test("Files are imported, shown and imported again")
    func importing() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Self.answer, to: "answer.json")
        let data = ["--data", folder.url.appending(path: "a/b").path]
        let first = try await Susi.run(["import", file] + data)
        #expect(first.status == 0 && first.lines == ["\(file): 1 added"])
        #expect(first.messages.contains("note: \(file): the action 'timer_set' is unknown and was kept raw"))
        #expect(first.messages.contains("map: zoom can't be read"))
        let second = try await Susi.run(["memory", file] + data)
        #expect(second.lines == ["\(file): 0 added, 1 already there"])
        #expect(try await Susi.run(["show"] + data).lines == Self.shown)
    }

    @Test("Good files are imported even if others are bad")
    func someBadFiles() async throws {
        let folder = try TemporaryFolder()
        let good = try folder.write(Self.answer, to: "good.json")
        let data = ["--data", folder.url.appending(path: "data").path]
        let bad = [
            try folder.write("{\"answers\": [", to: "cut.json"), try folder.write("", to: "empty.json"),
            try folder.write(Data([0xFF, 0xFE, 0x00]), to: "bytes.json"), try folder.write("{}", to: "none.json"),
            folder.url.path, folder.url.appending(path: "missing.json").path,
        ]
        let result = try await Susi.run(["import"] + bad + [good] + data)
        #expect(result.status == 1)
        #expect(result.lines == ["\(good): 1 added"])
        let errors = result.messages.split(separator: "\n").filter { $0.hasPrefix("error: ") }
        for file in bad { #expect(errors.contains { $0.contains("'\(file)'") }, "\(file): \(result.messages)") }
        #expect(try await Susi.run(["show"] + data).lines.count == Self.shown.count)
    }

    @Test("A question reaches the server and its answer comes back, characters intact")
    func asking() async throws {
        let folder = try TemporaryFolder()
        let data = ["--data", folder.url.path]
        let server = try StubServer(.ok(Self.answer))
        defer { server.stop() }
        let result = try await Susi.run(["ask", "1+1=2 & é?", "--server", "\(server.url)/api/"] + Self.patience + data)
        #expect(result.status == 0, "\(result.messages)")
        #expect(result.lines == Array(Self.shown.dropFirst()))
        let request = try #require(server.requestLines.first)
        #expect(request.hasPrefix("GET /api/susi/chat.json?q=1%2B1%3D2%20%26%20%C3%A9%3F&timezoneOffset="))
        #expect(
            try await Susi.run(["show"] + data).lines
                == ["2026-05-14T13:22:18Z  you   1+1=2 & é?"] + Self.shown.dropFirst())
        // The history contains the same exchange, so it adds nothing.
        let history = try await Susi.run(["memory"] + Self.patience + data, environment: ["SUSI_SERVER": server.url])
        #expect(history.status == 0 && server.requestLines.last == "GET /susi/memory.json HTTP/1.1")
    }

    @Test(
        "A question without an answer is kept unsent and can be sent again",
        arguments: ["offline", "status", "html", "silence", "endless", "cut", "noHTTP", "emptyHistory"])
    func resending(_ fault: String) async throws {
        let folder = try TemporaryFolder()
        let data = ["--data", folder.url.path]
        let answer: StubServer.Answer =
            switch fault {
            case "status": .bytes(Data("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}".utf8))
            case "html": .ok("<html>")
            case "silence": .silence
            case "endless": .endless(Data(repeating: UInt8(ascii: " "), count: 1 << 20))
            case "cut": .bytes(Data("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".utf8))
            case "noHTTP": .bytes(Data([0, 1, 2, 3, 10, 13, 10]))
            default: .ok(#"{"cognitions": []}"#)
            }
        let server = try StubServer(answer)
        defer { server.stop() }
        if fault == "offline" { server.stop() }
        let timeout = fault == "silence" ? "1" : "60"
        let result = try await Susi.run(["ask", "anyone?", "--server", server.url, "--timeout", timeout] + data)
        #expect(result.status == 1)
        #expect(result.lines.isEmpty)
        #expect(result.messages.contains("kept unsent"), "\(result.messages)")
        let shown = try await Susi.run(["show"] + data).lines
        #expect(shown.count == 1 && shown.first?.hasSuffix("you   anyone?  (unsent)") == true)

        let other = try StubServer(.ok(Self.answer))
        defer { other.stop() }
        let sent = try await Susi.run(["retry", "--server", other.url] + Self.patience + data)
        #expect(sent.lines == Array(Self.shown.dropFirst()), "\(sent.messages)")
        #expect(try await Susi.run(["show"] + data).lines.count == Self.shown.count)
        #expect(try await Susi.run(["retry", "--server", other.url] + data).lines.isEmpty)
    }

    @Test(
        "A question that can't be sent isn't kept",
        arguments: [
            ["ask", "", "--server", "http://127.0.0.1:1"], ["ask", "x"], ["ask", "x", "--server", "ftp://x"],
            ["ask", "x", "--server", "nowhere"], ["ask", "x", "--server", "http://"],
            ["ask", String(repeating: "x", count: 5_000), "--server", "http://127.0.0.1:1"],
        ])
    func unsendableQuestions(_ arguments: [String]) async throws {
        let folder = try TemporaryFolder()
        let data = ["--data", folder.url.path]
        let result = try await Susi.run(arguments + data, environment: ["SUSI_SERVER": ""])
        #expect(result.status != 0 && !result.messages.isEmpty)
        #expect(try await Susi.run(["show"] + data).lines.isEmpty)
    }

    @Test("Signing out leaves nothing on disk")
    func signingOut() async throws {
        let folder = try TemporaryFolder()
        let answers = try TemporaryFolder()
        let file = try answers.write(Self.answer, to: "answer.json")
        let data = ["--data", folder.url.path]
        _ = try await Susi.run(["import", file] + data)
        _ = try await Susi.run(["ask", "secret and unsent", "--server", "http://127.0.0.1:1"] + data)
        for word in ["secret question", "secret cell", "secret and unsent"] {
            #expect(try folder.bytes().range(of: Data(word.utf8)) != nil, "The test is looking in the wrong place.")
        }
        let result = try await Susi.run(["sign-out"] + data)
        #expect(result.status == 0 && result.lines == ["The conversation was deleted."])
        #expect(try folder.bytes().range(of: Data("secret".utf8)) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        #expect(try await Susi.run(["sign-out"] + data).lines == ["There was nothing to delete."])
        #expect(try await Susi.run(["show"] + data).lines.isEmpty)
    }

    @Test("A damaged file is a clear error, and signing out removes it")
    func damagedFile() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.write(String(repeating: "no database ", count: 1_000), to: "susi.realm")
        let data = ["--data", folder.url.path]
        let result = try await Susi.run(["show"] + data)
        #expect(result.status == 1 && result.messages.contains("susi.realm"))
        #expect(try await Susi.run(["sign-out"] + data).status == 0)
        #expect(try await Susi.run(["show"] + data).status == 0)
    }

    @Test("A killed import leaves all of a file or none of it")
    func killedImport() async throws {
        let folder = try TemporaryFolder()
        let count = 4_000
        let file = try folder.write(
            #"{"cognitions": ["#
                + (0..<count).map {
                    #"{"query": "q\#($0)", "query_date": "2026-05-14", "answers": [{"actions": [{"type": "answer", "expression": "\#(String(repeating: "x", count: 500))"}, {"type": "anchor", "link": "l"}]}]}"#
                }.joined(separator: ",") + "]}", to: "history.json")
        let data = folder.url.appending(path: "data")
        var outcomes: Set<Int> = []
        var round = 0
        // An import may finish before this process looks again.
        while round < 4 || (!outcomes.contains(0) && round < 50) {
            round += 1
            let run = try await Susi.start(["import", file, "--data", data.path])
            // The file's log grows while the transaction is running.
            let log = data.appending(path: "susi.realm-wal").path
            while run.isRunning {
                let size = try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
                if (size ?? 0) > min(round, 4) * 400_000 { break }
                await Task.yield()
            }
            kill(run.pid, SIGKILL)
            _ = try await run.outcome()
            let shown = try await Susi.run(["show", "--data", data.path])
            #expect(shown.status == 0, "\(shown.messages)")
            #expect([0, count * 3].contains(shown.lines.count), "round \(round)")
            outcomes.insert(shown.lines.count)
            _ = try await Susi.run(["sign-out", "--data", data.path])
        }
        #expect(outcomes.contains(0), "No import was killed midway.")
        #expect(try await Susi.run(["import", file, "--data", data.path]).lines == ["\(file): \(count) added"])
        #expect(try await Susi.run(["show", "--data", data.path]).lines.count == count * 3)
    }

    @Test(
        "Every fixture is imported, and importing it again adds nothing",
        .enabled(if: Fixtures.areHere, "The fixtures are not in ../shared/fixtures/susi."))
    func fixtures() async throws {
        let folder = try TemporaryFolder()
        let data = ["--data", folder.url.path]
        let files = try Fixtures.all.map(\.path)
        let first = try await Susi.run(["import"] + files + data)
        #expect(first.status == 0 && first.lines.count == files.count)
        let shown = try await Susi.run(["show"] + data).lines
        let second = try await Susi.run(["import"] + files + data)
        #expect(second.status == 0 && second.lines.allSatisfy { $0.contains(": 0 added") })
        #expect(try await Susi.run(["show"] + data).lines == shown)
    }

    @Test("Help says what the program does")
    func help() async throws {
        for command in [[], ["import"], ["show"], ["ask"], ["retry"], ["memory"], ["sign-out"]] {
            let result = try await Susi.run(command + ["--help"])
            #expect(result.status == 0 && result.lines.count > 5)
        }
    }
}
