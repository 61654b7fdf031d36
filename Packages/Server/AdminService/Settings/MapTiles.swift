public import TomboloHTTP
import TomboloLocalization

/// The server of map tiles. It learns from browsers which places they look at. Without one, the panel describes
/// places only in words.
public struct MapTiles: Hashable, Sendable {
    /// The variable with the address of the tiles.
    public static let variable = AdminServer.mapTilesVariable
    /// The variable with the attribution that the tiles' makers require below each map.
    public static let attributionVariable = AdminServer.mapAttributionVariable

    private static let example = "https://tile.example.org/{z}/{x}/{y}.png"

    /// The attribution of a map.
    package struct Attribution: Hashable, Sendable {
        package let text: String
        /// The link to the licence, for maps from OpenStreetMap's data.
        /// <https://osmfoundation.org/wiki/Licence/Attribution_Guidelines>
        package var link: String? { text.contains("OpenStreetMap") ? "https://www.openstreetmap.org/copyright" : nil }
    }

    package let template: String
    /// `https://tile.example.org`, as in the content security policy.
    package let origin: String
    package let attribution: Attribution

    /// - Parameters:
    ///   - template: a tile's address with `{z}`, `{x}` and `{y}` in place of its zoom, column and row. Must be
    ///     `https`, or `http` for a server on this computer, for development.
    ///   - attribution: nil for OpenStreetMap's.
    /// - Throws: `ConfigurationError` for anything else.
    public init(_ template: String, attribution: String? = nil) throws(ConfigurationError) {
        func problem(_ what: String) -> ConfigurationError {
            ConfigurationError(problems: [
                localized("\(Self.variable) is '\(template)': \(what), such as \(Self.example).")
            ])
        }
        // Only these characters, since the origin becomes part of a header.
        guard
            let parts = template.wholeMatch(
                of:
                    /(?<origin>(?<scheme>https?):\/\/(?<host>[A-Za-z0-9.\-]+)(:[0-9]{1,5})?)(?<path>\/[!-~]*)/
            )
        else { throw problem(localized("give the address of a map's tiles, without spaces")) }
        guard LinkAddress.parts(of: String(parts.origin)) != nil else {
            throw problem(localized("check the host and the port of the address"))
        }
        guard parts.scheme == "https" || ["localhost", "127.0.0.1"].contains(parts.host) else {
            throw problem(localized("give an address with https; http is for localhost only"))
        }
        var rest = String(parts.path)
        for name in ["{z}", "{x}", "{y}"] {
            guard rest.contains(name) else {
                throw problem(localized("\(name) is missing; give an address with {z}, {x} and {y}"))
            }
            rest = rest.replacing(name, with: "")
        }
        guard !rest.contains(where: { "{}#".contains($0) }) else {
            throw problem(localized("leave out '#' and all braces other than those of {z}, {x} and {y}"))
        }
        self.template = template
        origin = parts.origin.lowercased()
        self.attribution = Attribution(text: attribution ?? "© OpenStreetMap contributors")
    }
}
