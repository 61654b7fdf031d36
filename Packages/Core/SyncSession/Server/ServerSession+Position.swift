public import TomboloChangesets
public import TomboloSyncProtocol

extension ServerSession.PositionCheck {
    /// Judges a device's position.
    /// - Parameters:
    ///   - known: what ``ServerStore/tick(_:)`` returns for the position's tick.
    ///   - latest: the store's newest tick, read from the primary after `known`.
    public init(_ position: Position, known: Tick?, latest: Tick) {
        if position.tick == 0 {
            self = .none
        } else if let known {
            self = known.token == position.token ? .valid(known) : .foreign
        } else {
            self = position.tick > latest.number ? .foreign : .expired
        }
    }
}
