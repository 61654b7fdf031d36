import Foundation
import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

@testable import AdminPanel

/// Byte values in lists: small images are displayed.
@Suite struct ListImagesTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3, 0, 255]
    private static let list = "/panel/data/ships?columns=name,photo,seal"

    private static func image(_ id: String, _ words: String) -> String {
        #"<img class="small" src="/panel/data/ships/\#(id)/bytes/photo" width="48" height="48" alt="Photo: \#(words)" "#
            + #"loading="lazy">"#
    }

    @Test("a list displays bytes that are an image, and shows the size of all others")
    func shown() async throws {
        try await StructuredFormTests.run { site in
            for (bytes, words) in [
                (Data(Self.png), "13 bytes"), (Data([0xff, 0xd8, 0xff, 0xe0]), "4 bytes"),
                (Data("GIF89a".utf8), "6 bytes"), (Data("RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8 ".utf8), "16 bytes"),
            ] {
                let id = try await site.fixture.ship(site.client, ["photo": .string(bytes.base64EncodedString())])
                let page = try await site.browser.get("\(Self.list)&filter[id]=\(id)").text
                #expect(page.contains(Self.image(id, words)), "\(page)")
                #expect(page.contains(">3 bytes</td>"))
                let served = try await site.browser.get("/panel/data/ships/\(id)/bytes/photo")
                #expect(served.headers[.contentType]?.hasPrefix("image/") == true)
                let first = try await site.browser.get("/panel/data/ships?columns=photo,name").text
                #expect(
                    first.contains(#"<a href="/panel/data/ships/\#(id)">\#(Self.image(id, words))</a>"#), "\(first)")
            }
            let svg = Data("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)
            for (photo, words) in [
                (.string(svg.base64EncodedString()), "\(svg.count) bytes"), (.string(""), "no bytes"),
                (.null, "none"),
            ] as [(JSON, String)] {
                let id = try await site.fixture.ship(site.client, ["photo": photo])
                let page = try await site.browser.get("\(Self.list)&filter[id]=\(id)").text
                #expect(!page.contains("<img") && page.contains(">\(words)<"), "\(page)")
            }
        }
    }

    @Test(
        "a browser that has an image is told it's unchanged after its rights are checked, and shared caches may not keep it"
    )
    func unchanged() async throws {
        try await StructuredFormTests.run { site in
            let id = try await site.fixture.ship(
                site.client, ["photo": .string(Data(Self.png).base64EncodedString())])
            let path = "/panel/data/ships/\(id)/bytes/photo"
            let version = try #require(try await site.browser.get(path).headers[.eTag])
            let same = try await site.browser.get(path, headers: [.ifNoneMatch: version])
            #expect(same.status == 304 && same.text.isEmpty && same.headers[.eTag] == version)
            #expect(same.headers[.cacheControl] == "private, no-cache")
            #expect(try await PanelBrowser(site.client).get(path, headers: [.ifNoneMatch: version]).status == 303)
            try await site.fixture.pool.query("UPDATE ship SET photo = $1", [.bytea(Self.png + [1])])
            let other = try await site.browser.get(path, headers: [.ifNoneMatch: version])
            #expect(other.status == 200 && other.headers[.eTag] != version)
            try await site.fixture.pool.query("UPDATE ship SET photo = $1", [.bytea([1, 2, 3])])
            #expect(try await site.browser.get(path, headers: [.ifNoneMatch: "*"]).status == 200)
        }
    }

    @Test("an image too large for a list is described in words, and lists of many long values still work")
    func large() async throws {
        try await StructuredFormTests.run { site in
            let id = try await site.fixture.ship(site.client, [:])
            for (count, isShown) in [
                (BytesBeginning.maximumImageByteCount, true), (BytesBeginning.maximumImageByteCount + 1, false),
            ] {
                let bytes = Self.png + [UInt8](repeating: 7, count: count - Self.png.count)
                try await site.fixture.pool.query("UPDATE ship SET photo = $1", [.bytea(bytes)])
                let page = try await site.browser.get(Self.list).text
                let words = "\(PanelNumber.text(count)) bytes"
                #expect(page.contains(Self.image(id, words)) == isShown, "\(page)")
                #expect(page.contains(">\(words)</td>") == !isShown)
            }
            for _ in 0..<2 { _ = try await site.fixture.ship(site.client, [:]) }
            try await site.fixture.pool.execute("UPDATE ship SET photo = decode(repeat('07', 4000000), 'hex')")
            let page = try await site.browser.get(Self.list)
            #expect(page.status == 200, "\(page.text)")
            #expect(page.text.ranges(of: ">4,000,000 bytes</td>").count == 3, "\(page.text)")
        }
    }

    @Test("the statement reads only the beginning and the length of bytes, and such a resource has no version")
    func statement() async throws {
        try await StructuredFormTests.run { site in
            let types = ResourceTypes(site.fixture.rules.schema)
            let type = try #require(types["ships"])
            let view = CallerView(subject: Subject(user: .generate()), rules: site.fixture.rules, types: types)
            let names: Set<String> = ["photo", "name"]
            let plan = ResourcePlan(type, for: view, fields: names, beginnings: ["photo", "nothing"])
            #expect(
                plan.columns.filter { $0.contains("photo") }.sorted() == [
                    #"octet_length("o"."photo")"#, #"substring("o"."photo" FROM 1 FOR 12)"#,
                ])
            #expect(plan.columns.count == 4)
            #expect(!ResourcePlan(type, for: view, beginnings: ["photo"]).isComplete)
            #expect(ResourcePlan(type, for: view).isComplete)
        }
    }

    @Test("users who may not read the bytes get no image, whatever columns they request")
    func hidden() async throws {
        try await StructuredFormTests.run(hiding: "photo") { site in
            _ = try await site.fixture.ship(site.client, ["name": "Public"])
            try await site.fixture.pool.query("UPDATE ship SET photo = $1", [.bytea(Self.png)])
            #expect(try await site.browser.get(Self.list).status == 400)
            for path in ["/panel/data/ships", "/panel/data/ships?columns=name,seal"] {
                let page = try await site.browser.get(path)
                #expect(page.status == 200 && !page.text.contains("<img") && !page.text.contains("/bytes/photo"))
            }
            try await site.fixture.pool.execute("UPDATE ship SET name = 'Hidden'")
            let page = try await site.browser.get("/panel/data/ships?columns=name,seal").text
            #expect(!page.contains("3 bytes"), "\(page)")
        }
    }
}
