import ArgumentParser
import TomboloInspection

/// `tombolo inspect`
struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a gateway who is connected, and why a device has or lacks an object.",
        discussion: """
            A gateway answers users whom the rules permit the operation 'inspect' on objects of some class, and leaves \
            out what they may not see. It knows only its own devices: behind a load balancer, ask each gateway separately.

            Log in with --email, which prompts for the password or reads it from the first line of standard input. \
            Programs set one of these variables instead:
              TOMBOLO_TOKEN      an access token
              TOMBOLO_API_KEY    the API key of an account
              TOMBOLO_GATEWAY_URL    instead of --gateway

            Examples:
              tombolo inspect sessions --email support@example.org
              tombolo inspect why Listing 65f1c0ffee65f1c0ffee65f1 --user 65f1000000000000000000aa
              tombolo inspect sessions --json | jq '.sessions[] | select(.position.behindTicks > 100)'
            """,
        subcommands: [Sessions.self, Session.self, Why.self], defaultSubcommand: Sessions.self)

    /// `tombolo inspect sessions`
    struct Sessions: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List who is connected, how far behind, and with which subscriptions.",
            discussion: """
                SESSION is the number for 'tombolo inspect session'. DEVICE is the device's id, as in logs. BEHIND is \
                how far the device's changes are behind the newest tick; UPLOADS counts changesets that were received but not \
                acknowledged yet. The oldest session comes first, with 100 sessions per page.
                """)

        @OptionGroup var gateway: GatewayOptions

        @Option(help: "Only sessions of this user.")
        var user: String?

        @Option(help: "Only sessions of this device.")
        var client: String?

        @Option(
            help: "Only sessions in this state: waiting, authenticating, opening, verifying, reading, live or closed.")
        var state: String?

        @Option(help: "The page to show.")
        var page: Int?

        func run() async throws {
            try await gateway.ask(
                "/inspector/sessions",
                [("user", user), ("client", client), ("state", state), ("page", page.map(String.init))],
                show: InspectorText.sessions)
        }
    }

    /// `tombolo inspect session`
    struct Session: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show one session: its position, subscriptions, uploads and connection.")

        @OptionGroup var gateway: GatewayOptions

        @Argument(help: "The session's number, as listed by 'tombolo inspect sessions'.")
        var number: UInt64

        func run() async throws {
            try await gateway.ask("/inspector/sessions/\(number)", [], show: InspectorText.session)
        }
    }

    /// `tombolo inspect why`
    struct Why: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Explain why devices have or lack an object.",
            discussion: """
                Uses the same conditions as the device's batches, on the object as of the newest tick. Look at each \
                device's first reason; docs/observability.md explains the codes.

                Example: tombolo inspect why Listing 65f1c0ffee65f1c0ffee65f1 --client 1k2x9 --property price
                """)

        @OptionGroup var gateway: GatewayOptions

        @Argument(help: "The object's class.")
        var className: String

        @Argument(help: "The object's primary key.")
        var id: String

        @Option(help: "All devices of this user, by the user's id. Covers the first 20.")
        var user: String?

        @Option(help: "This device, as listed by 'tombolo inspect sessions'.")
        var client: String?

        @Option(help: "A property of the object, which the rules may hide.")
        var property: String?

        func validate() throws {
            guard user != nil || client != nil else {
                throw ValidationError("Say which device you mean: --user ID or --client DEVICE.")
            }
        }

        func run() async throws {
            try await gateway.ask(
                "/inspector/why",
                [("class", className), ("id", id), ("user", user), ("client", client), ("property", property)],
                show: InspectorText.why)
        }
    }
}
