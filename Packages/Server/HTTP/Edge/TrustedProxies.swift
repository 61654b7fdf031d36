public import HTTPTypes
import TomboloAuthentication

/// The proxies that are trusted to name a request's client address, in HTTP headers or by the PROXY protocol. From
/// anyone else, such HTTP headers are ignored and PROXY headers refused: they could name any address, and escape every
/// limit by address.
public struct TrustedProxies: Hashable, Sendable {
    /// The most proxies that a request is traced through. Further entries are ignored.
    public static let maximumHopCount = 32

    private let ranges: [NetworkRange]

    /// Trusts no proxy.
    public static let none = TrustedProxies(ranges: [])

    private init(ranges: [NetworkRange]) { self.ranges = ranges }

    /// - Parameter text: addresses and networks, separated by commas or blanks: `10.0.0.0/8, 2001:db8::7`.
    /// - Throws: ``ConfigurationError`` that names whatever can't be read.
    public init(_ text: String) throws(ConfigurationError) {
        var ranges: [NetworkRange] = []
        var problems: [String] = []
        for part in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            if let range = NetworkRange(part) {
                ranges.append(range)
            } else {
                problems.append("'\(part)' is not an IP address or a network such as 10.0.0.0/8.")
            }
        }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        self.ranges = ranges
    }

    func contains(_ address: String) -> Bool {
        guard !ranges.isEmpty, let address = IPAddress(address) else { return false }
        return contains(address)
    }

    private func contains(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// The client's address: the connection's, or the one that a trusted proxy names.
    /// - Parameters:
    ///   - peer: the connection's address.
    ///   - headers: the request's headers, which may include `Forwarded` (RFC 7239) or `X-Forwarded-For`.
    public func clientAddress(peer: String, headers: HTTPFields) -> String {
        guard contains(peer) else { return peer }
        return clientAddress(
            peer: peer, forwarded: headers[values: .forwarded], forwardedFor: headers[values: .forwardedFor])
    }

    /// Whether the client called by HTTPS, as trusted proxies say in `X-Forwarded-Proto` or `Forwarded`; nil if they don't
    /// say.
    func isSecure(peer: String, headers: HTTPFields) -> Bool? {
        guard contains(peer) else { return nil }
        // The nearest proxy has set it or passed it on. In a list, an entry before the last may be the client's.
        let named = headers[values: .forwardedProto].flatMap { $0.split(separator: ",") }.last.map(Self.trimmed)
        return (named.map(String.init) ?? forwardedScheme(headers)).map { $0.lowercased() == "https" }
    }

    /// The scheme in `Forwarded` with which the outermost trusted proxy was called, of those that name one. An element has
    /// the scheme and the address of the proxy's caller, so the elements are followed like those that name the client.
    /// Beside `X-Forwarded-For`, only the nearest proxy certainly maintains this header.
    private func forwardedScheme(_ headers: HTTPFields) -> String? {
        let isOnlyHeader = headers[values: .forwardedFor].isEmpty
        var scheme: String?
        let elements = headers[values: .forwarded].flatMap { $0.split(separator: ",") }
        for element in elements.suffix(Self.maximumHopCount).reversed() {
            scheme = Self.part("proto", of: element) ?? scheme
            guard isOnlyHeader, let caller = Self.part("for", of: element).flatMap({ IPAddress($0) }), contains(caller)
            else { break }
        }
        return scheme
    }

    /// Each proxy appends the address that called it. So the list is read from its end, as long as the entries are
    /// trusted proxies: anything before the first other address is only that caller's claim.
    ///
    /// A proxy maintains one of the two headers, and passes the other on as its client sent it. If they contradict each
    /// other, only the proxy's own address is certain.
    /// - Parameters:
    ///   - forwarded: the values of `Forwarded`, in order.
    ///   - forwardedFor: the values of `X-Forwarded-For`, in order.
    public func clientAddress(peer: String, forwarded: [String], forwardedFor: [String]) -> String {
        guard contains(peer) else { return peer }
        let named = [Self.hops(forwarded: forwarded), Self.hops(forwardedFor: forwardedFor)]
            .filter { !$0.isEmpty }.map { client($0, peer: peer) }
        guard let first = named.first else { return peer }
        return named.allSatisfy { AddressGroup($0) == AddressGroup(first) } ? first : peer
    }

    private func client(_ hops: [String], peer: String) -> String {
        var client = peer
        for hop in hops.suffix(Self.maximumHopCount).reversed() {
            // The entry hides an address (`unknown`, `_proxy1`). The proxy that wrote it is the last known address.
            guard let address = IPAddress(hop) else { break }
            client = hop
            guard contains(address) else { break }
        }
        return client
    }

    private static func hops(forwardedFor values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",") }.map { host(of: $0) }
    }

    /// Quotes are ignored: a quote that a client leaves open must not hide what the proxies append after it.
    private static func hops(forwarded values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",") }.map { part("for", of: $0) ?? "" }
    }

    /// A parameter in an element of `Forwarded`; nil if there is none with this name.
    private static func part(_ name: String, of element: Substring) -> String? {
        for pair in element.split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, trimmed(parts[0]).lowercased() == name else { continue }
            return host(of: parts[1])
        }
        return nil
    }

    /// The address without quotes, brackets and port.
    private static func host(of text: Substring) -> String {
        let text = trimmed(text)
        if text.hasPrefix("[") { return String(text.dropFirst().prefix { $0 != "]" }) }
        return text.count(where: { $0 == ":" }) == 1 ? String(text.prefix { $0 != ":" }) : String(text)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isNoise = { (character: Character) in character == " " || character == "\t" || character == "\"" }
        let rest = text.drop(while: isNoise)
        return rest.lastIndex(where: { !isNoise($0) }).map { rest[...$0] } ?? ""
    }
}

extension HTTPField.Name {
    static let forwarded = HTTPField.Name("Forwarded")!
    static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
    static let forwardedProto = HTTPField.Name("X-Forwarded-Proto")!
}
