import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

/// A new device's first message.
enum Greeting {
    static func hello(
        _ schema: Schema, token: String, client: ClientID, version: Int = ProtocolVersion.current,
        subscriptions: [Subscription] = []
    ) -> ClientMessage {
        .hello(
            Hello(
                protocolVersion: version, accessToken: token, client: client, position: .none,
                activeSubscriptions: .empty,
                wantedSubscriptions: SubscriptionSet(
                    version: subscriptions.isEmpty ? 0 : 1, subscriptions: subscriptions),
                acknowledged: 0, classes: HelloClass.describe(schema)))
    }

    static func newClient() -> ClientID {
        var generator = SystemRandomNumberGenerator()
        return .random(using: &generator)
    }
}
