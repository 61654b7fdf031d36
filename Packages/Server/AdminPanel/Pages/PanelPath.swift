import TomboloAuthentication

/// Checks panel addresses that come from outside, such as where to go after login.
enum PanelPath {
    private static let maximumByteCount = 2_048

    /// - Returns: the address, or nil unless it's a path of the panel on this server.
    static func checked(_ text: String?) -> String? {
        guard let text, text.utf8.count <= maximumByteCount, text.hasPrefix(AdminPanel.path),
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return nil }
        let rest = text.dropFirst(AdminPanel.path.count)
        return rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") ? text : nil
    }
}

/// The wording for demanding the password again.
enum PanelDemand {
    static let minutes = PanelSession.proofSeconds / 60
}
