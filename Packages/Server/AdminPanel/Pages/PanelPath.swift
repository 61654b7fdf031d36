import TomboloAuthentication

/// Addresses of the panel that come from outside, as where to go after a log-in.
enum PanelPath {
    private static let maximumByteCount = 2_048

    /// - Returns: the address, or nil for anything but a path of the panel on this server.
    static func checked(_ text: String?) -> String? {
        guard let text, text.utf8.count <= maximumByteCount, text.hasPrefix(AdminPanel.path),
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return nil }
        let rest = text.dropFirst(AdminPanel.path.count)
        return rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") ? text : nil
    }
}

/// What is said about the password being asked for again.
enum PanelDemand {
    static let minutes = PanelSession.proofSeconds / 60
}
