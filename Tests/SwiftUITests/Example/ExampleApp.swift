// An app written as with Realm: it uses every wrapper, binding and environment value, with just these two imports.
import RealmSwift
import SwiftUI

let app = RealmSwift.App(id: "chats", configuration: AppConfiguration(baseURL: "http://127.0.0.1:8080"))

@main
struct ExampleApp: SwiftUI.App {
    var body: some Scene {
        WindowGroup {
            RootView(accounts: app)
        }
    }
}

struct RootView: View {
    @ObservedObject var accounts: RealmSwift.App
    @AsyncOpen(appId: "chats", timeout: 4000) var opening
    @AutoOpen(appId: "chats", partitionValue: "user=1", configuration: .defaultConfiguration) var offline

    var body: some View {
        if let user = accounts.currentUser {
            AccountView(user: user)
            switch opening {
            case .waitingForUser: Text("log in")
            case .connecting: ProgressView()
            case .progress(let progress): ProgressView(progress)
            case .open(let realm):
                ChatList(chosen: Chat())
                    .environment(\.realm, realm)
            case .error(let error): Text(error.localizedDescription)
            }
            ChatList(chosen: Chat())
                .environment(\.realmConfiguration, user.flexibleSyncConfiguration())
                .environment(\.partitionValue, "user=\(user.id)")
                .onReceive($opening) { state in print(state) }
                .onDisappear { _offline.cancel() }
        }
    }
}

struct AccountView: View {
    @ObservedObject var user: RealmSwift.User

    var body: some View {
        Text(user.profile.email ?? user.id)
    }
}

struct ChatList: View {
    @ObservedResults(
        Chat.self, where: { $0.unread > 0 }, sortDescriptor: SortDescriptor(keyPath: "title", ascending: true))
    var unread
    @ObservedResults(Chat.self, sortDescriptor: SortDescriptor(keyPath: "title")) var chats
    @ObservedResults(Chat.self, filter: NSPredicate(value: true), keyPaths: ["title"]) var others
    @ObservedSectionedResults(Message.self, sectionKeyPath: \.author) var messages
    @ObservedSectionedResults(
        Message.self, sectionBlock: { String($0.text.prefix(1)) },
        sortDescriptors: [SortDescriptor(keyPath: "text", ascending: true)], where: { $0.author != "" })
    var initials
    @Environment(\.realm) var realm
    @State private var searched = ""
    @State private var token: NotificationToken?
    @ObservedRealmObject var chosen: Chat

    var body: some View {
        List {
            ForEach(chats) { chat in
                ChatView(chat: chat)
            }
            .onDelete(perform: $chats.remove)
            ForEach(messages) { section in
                Section(section.key) {
                    ForEach(section) { message in
                        Text(message.text)
                    }
                    .onDelete { $messages.remove(atOffsets: $0, section: section) }
                }
            }
            List(initials) { section in
                Text("\(section.id): \(section.count)")
            }
        }
        .searchable(text: $searched, collection: $chats, keyPath: \.title)
        .searchable(text: $searched, collection: $chats, keyPath: \.title, prompt: "Title")
        .searchable(text: $searched, collection: $messages, keyPath: \.text)
        .onAppear(perform: subscribe)
    }

    private func subscribe() {
        let subscriptions = realm.subscriptions
        subscriptions.update {
            if let current = subscriptions.first(named: "chat") {
                current.updateQuery(toType: Message.self) { $0.chat == chosen._id }
            } else {
                subscriptions.append(QuerySubscription<Message>(name: "chat") { $0.chat == chosen._id })
            }
        }
        token = chats.thaw()?.observe { _ in print(chats.count) }
        $chats.append(Chat())
        if let first = chats.first { $chats.remove(first) }
        print(chats.filter(NSPredicate(value: true)).count)
        $chats.filter = NSPredicate(value: true)
        $chats.where = { $0.title == "" }
        $chats.sortDescriptor = SortDescriptor(keyPath: "unread", ascending: false)
        if let unmuted = chosen.settings, let live = unmuted.thaw() {
            try? live.realm?.write { live.isMuted = false }
        }
    }
}

struct ChatView: View {
    @ObservedRealmObject var chat: Chat
    @StateRealmObject var draft = Message()

    var body: some View {
        VStack {
            TextField("Title", text: $chat.title)
            TextField("Message", text: $draft.text)
            MemberList(members: chat.members)
            Button("Read") { $chat.unread.wrappedValue = 0 }
            Button("Send") {
                $chat.messages.append(draft)
                draft = Message()
            }
            Button("Sign") { $chat.messages[0].author.wrappedValue = "me" }
            Button("Promote") { $chat.members[0].isAdmin.wrappedValue = true }
            Button("Delete") { $chat.delete() }
            Button("Discard") { $draft.delete() }
            ForEach(chat.members) { member in
                MemberView(member: member)
            }
            .onDelete(perform: $chat.members.remove)
            .onMove(perform: $chat.members.move)
        }
    }
}

struct MemberList: View {
    @ObservedRealmObject var members: RealmSwift.List<Member>
    @StateRealmObject var pending = RealmSwift.List<Member>()

    var body: some View {
        ForEach(members) { member in
            Text(member.name)
        }
        .onDelete(perform: $members.remove)
        .onMove(perform: $members.move)
        Button("Add") {
            $members.append(Member())
            $members.remove(at: 0)
            $pending.append(Member())
        }
    }
}

struct MemberView: View {
    @ObservedRealmObject var member: Member

    var body: some View {
        TextField("Name", text: $member.name)
        Toggle("Admin", isOn: $member.isAdmin)
        Toggle("Admin", isOn: member.bind(\.isAdmin))
        NamePicker(name: $member.name)
    }
}

struct NamePicker: View {
    @Binding var name: String
    @ThreadSafe var chat: Chat?

    var body: some View {
        Text(name)
    }
}
