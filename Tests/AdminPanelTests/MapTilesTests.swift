import AdminService
import Testing
import TomboloHTTP

@testable import AdminPanel

/// The variable that names a map tile server.
@Suite struct MapTilesTests {
    @Test("an address with z, x and y gives the tiles, and the origin from which pages may load images")
    func address() throws {
        let tiles = try MapTiles("https://Tile.example.org:8443/osm/{z}/{x}/{y}@2x.png?key=a-b&v=1")
        #expect(tiles.origin == "https://tile.example.org:8443")
        #expect(
            tiles.address(of: MapGrid.Tile(zoom: 3, x: 1, y: 2))
                == "https://Tile.example.org:8443/osm/3/1/2@2x.png?key=a-b&v=1")
        for local in ["http://localhost:8090", "http://127.0.0.1"] {
            #expect(try MapTiles("\(local)/{x}/{y}/{z}").origin == local)
        }
    }

    @Test("the attribution is OpenStreetMap's unless specified otherwise, with a link to its licence")
    func attribution() throws {
        let usual = try MapTiles("https://a.example/{z}/{x}/{y}").attribution
        #expect(usual.text == "© OpenStreetMap contributors")
        #expect(usual.link == "https://www.openstreetmap.org/copyright")
        let other = try MapTiles("https://a.example/{z}/{x}/{y}", attribution: "© Land Survey").attribution
        #expect(other.text == "© Land Survey" && other.link == nil)
    }

    @Test(
        "anything else is refused with the variable's name, the reason and an example",
        arguments: [
            ("http://tile.example.org/{z}/{x}/{y}.png", "http is for localhost"),
            ("http://localhost.evil.example/{z}/{x}/{y}", "http is for localhost"),
            ("https://tile.example.org/{z}/{x}.png", "{y} is missing"), ("https://tile.example.org", "address"),
            ("https://{s}.tile.example.org/{z}/{x}/{y}.png", "address"),
            ("https://tile.example.org/{z}/{x}/{y}{r}.png", "all braces other than"),
            ("https://tile.example.org/{z}/{x}/{y}#a", "'#'"), ("https://me:secret@a.example/{z}/{x}/{y}", "address"),
            ("https://a.example; script-src *//{z}/{x}/{y}", "address"), ("https://a.example/{z}/{x}/{y} z", "address"),
            ("ftp://a.example/{z}/{x}/{y}", "address"), ("{z}{x}{y}", "address"), ("tiles", "address"),
        ])
    func refused(template: String, reason: String) {
        let error = #expect(throws: ConfigurationError.self) { try MapTiles(template) }
        let text = error?.description ?? ""
        #expect(text.contains("TOMBOLO_MAP_TILES is '\(template)'") && text.contains(reason), "\(text)")
        #expect(text.contains("such as https://tile.example.org/{z}/{x}/{y}.png"))
    }
}
