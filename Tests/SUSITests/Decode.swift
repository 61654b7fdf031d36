import Foundation

@testable import SUSI

/// When every answer of these tests was received.
let receipt = Date(timeIntervalSince1970: 1_900_000_000)

func decode(_ text: String) throws -> [Exchange] { try decode(Data(text.utf8)) }

func decode(_ data: Data) throws -> [Exchange] {
    try ExchangeDecoder.decode(data, receivedAt: receipt).exchanges
}

/// The one exchange of an answer.
func exchange(_ data: Data) throws -> Exchange {
    let exchanges = try decode(data)
    guard exchanges.count == 1 else { throw SusiError("There are \(exchanges.count) exchanges, not one.") }
    return exchanges[0]
}

/// The decoded action, with the data beside it.
func reply(_ action: String, data: String = "[]") throws -> Exchange.Reply? {
    try exchange(Data(#"{"query": "q", "answers": [{"data": \#(data), "actions": [\#(action)]}]}"#.utf8)).replies.first
}
