import TomboloHTTP

/// Once all servers are listening, prints their addresses and what to try.
actor AddressBoard {
    private let expected: Int
    private let quiet: Bool
    private let notes: String
    private var addresses: [String: String] = [:]

    /// - Parameters:
    ///   - expected: the number of servers.
    ///   - quiet: whether to print only a line for each server, for programs.
    ///   - notes: lines to show along with the addresses.
    init(expected: Int, quiet: Bool, notes: String) {
        self.expected = expected
        self.quiet = quiet
        self.notes = notes
    }

    func add(_ name: String, _ host: String, _ port: Int) {
        addresses[name] = ListeningAddress.text("http", host, port)
        guard addresses.count == expected else { return }
        guard quiet else { return say(advice) }
        for name in ["gateway", "admin"] {
            if let address = addresses[name] { say("\(name) \(address)") }
        }
    }

    private var advice: String {
        let gateway = addresses["gateway"] ?? ""
        return """

            sync gateway   \(gateway)   devices connect to /sync
            admin server   \(addresses["admin"] ?? "")
            \(notes)
            Try next, in another terminal:
              make psql          change a row with plain SQL and see it arrive on a device
              make demo          two devices, offline edits, trash and tickets in a minute
              curl -s \(gateway)/ready
            """
    }
}
