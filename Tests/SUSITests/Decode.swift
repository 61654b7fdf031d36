import Foundation

@testable import SUSI

/// The time at which these tests receive every answer.
let receipt = Date(timeIntervalSince1970: 1_900_000_000)

func decode(_ text: String) throws -> [Exchange] { try decode(Data(text.utf8)) }

func decode(_ data: Data) throws -> [Exchange] {
    try ExchangeDecoder.decode(data, receivedAt: receipt).exchanges
}

/// The only exchange of an answer.
func exchange(_ data: Data) throws -> Exchange {
    let exchanges = try decode(data)
    guard exchanges.count == 1 else { throw SusiError("There are \(exchanges.count) exchanges, not one.") }
    return exchanges[0]
}

/// The first reply decoded from an answer with this action and this data.
func reply(_ action: String, data: String = "[]") throws -> Exchange.Reply? {
    try exchange(Data(#"{"query": "q", "answers": [{"data": \#(data), "actions": [\#(action)]}]}"#.utf8)).replies.first
}
