/// Prints where the servers listen once all of them do, and what to try.
actor AddressBoard {
    private let expected: Int
    private let quiet: Bool
    private var addresses: [String: String] = [:]

    init(expected: Int, quiet: Bool) {
        self.expected = expected
        self.quiet = quiet
    }

    func add(_ name: String, _ host: String, _ port: Int) {
        addresses[name] = "http://\(host):\(port)"
        guard addresses.count == expected else { return }
        for name in ["gateway", "admin", "tickets"] {
            if let address = addresses[name] { say("\(name) \(address)") }
        }
        if !quiet { say(advice) }
    }

    private var advice: String {
        let gateway = addresses["gateway"] ?? ""
        let tickets = addresses["tickets"] ?? ""
        return """

            sync gateway   \(gateway)   devices connect to /sync
            admin server   \(addresses["admin"] ?? "")
            ticket API     \(tickets)   public page of an event: /events/ID

            Demo users are in the output of 'migration-tool sample' (the first 'make up' shows it).
            To try next, in another terminal:
              make psql          change a row with plain SQL and see it arrive on a device
              make demo          two devices, offline edits, trash and tickets in a minute
              curl -s \(gateway)/ready
            """
    }
}
