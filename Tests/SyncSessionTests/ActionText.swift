import TomboloChangesets
import TomboloSyncProtocol
import TomboloSyncSession

/// Actions as short texts that make transcripts readable.
extension ServerSession.Action {
    var text: String {
        switch self {
        case .authenticate(let token): "authenticate \(token)"
        case .open(let client, let user, let acknowledged, let position):
            "open \(client.rawValue) \(user) acknowledged \(acknowledged) at \(position.tick)"
        case .send(let message): "send \(message.text)"
        case .read(let request):
            "read from \(request.from.map { "\($0.number)" } ?? "nothing") subscriptions "
                + "\(request.subscriptionVersion)\(request.old == request.new ? "" : " with other queries")"
        case .upload(let changesets, _): "upload \(changesets.map(\.number))"
        case .sendFrames(let frames): "send \(frames.messages.count) live"
        case .follow(let number, let after, _): "follow \(number) after \(after)"
        case .unfollow(let number): "unfollow \(number)"
        case .close: "close"
        }
    }
}

extension ServerMessage {
    var text: String {
        switch self {
        case .welcome(let welcome): "welcome last \(welcome.lastChangeset)\(welcome.isExpired ? " expired" : "")"
        case .frame(let frame): "frame \(frame.sequence)"
        case .end(let end):
            "end \(end.position.tick) frames \(end.frameCount)"
                + (end.acknowledged > 0 ? " acknowledged \(end.acknowledged)" : "")
                + (end.refusals.isEmpty ? "" : " refused \(end.refusals.map(\.number))")
        case .reset: "reset"
        case .failure(let failure): "failure \(failure.code.rawValue)"
        }
    }
}

extension ClientSession.Action {
    var text: String {
        switch self {
        case .connect: "connect"
        case .disconnect: "disconnect"
        case .wait: "wait"
        case .send(.hello(let hello)): "send hello at \(hello.position.tick) acknowledged \(hello.acknowledged)"
        case .send(.subscribe(let set)): "send subscribe \(set.version)"
        case .send(.upload(let changesets)): "send upload \(changesets.map(\.number))"
        case .send(.applied(let tick)): "send applied \(tick)"
        case .stage(let frame): "stage \(frame.sequence)"
        case .apply(let end, let frames):
            "apply \(end.position.tick)" + (frames.isEmpty ? "" : " with \(frames.map(\.sequence))")
                + (end.acknowledged > 0 ? " acknowledged \(end.acknowledged)" : "")
                + (end.refusals.isEmpty ? "" : " refused \(end.refusals.map(\.number))")
        case .loadPending(let after, let count, _): "load after \(after) at most \(count)"
        case .resetStore: "reset store"
        case .noteReset: "note reset"
        case .refuseSubscriptions(let version, _): "refuse subscriptions \(version)"
        case .report(.connection(let state)): state.rawValue
        case .report(.download(let received, let total)): "download \(received)/\(total)"
        case .report(.subscriptionsComplete(let version)): "complete \(version)"
        case .report(.subscriptionsRefused(let version, let failure)):
            "subscriptions \(version) refused \(failure.code.rawValue)"
        case .report(.failure(let failure)): "failure \(failure.code.rawValue)"
        case .report(.refused(let changesets)): "refused \(changesets.map(\.number))"
        case .report(.acknowledged(let number)): "acknowledged \(number)"
        case .report(.reset): "reset"
        }
    }
}
