/// Formats the address of a server.
package enum ListeningAddress {
    /// `http://127.0.0.1:8080`, `http://[::1]:8080`.
    package static func text(_ scheme: String, _ host: String, _ port: Int) -> String {
        "\(scheme)://\(self.host(host)):\(port)"
    }

    /// A host as it is written in addresses: IPv6 addresses in brackets (RFC 3986, section 3.2.2).
    package static func host(_ host: String) -> String {
        host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    }
}
