#include "serve/raw_client.h"

#include <gtest/gtest.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <memory>

#include "base/error.h"
#include "base/files.h"

namespace bet::test {

bool RawAnswer::has_header(std::string_view line) const {
  return head.find("\r\n" + std::string(line) + "\r\n") != std::string::npos;
}

RawClient::RawClient(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  addrinfo* found = nullptr;
  BET_CHECK(::getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), nullptr, &found) == 0,
            address, ": no address");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> info(found, &::freeaddrinfo);
  socket_ = FileHandle(::socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{30, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  BET_CHECK(::connect(socket_.get(), info->ai_addr, info->ai_addrlen) == 0, address, ": ",
            system_message());
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void RawClient::send_get(std::string_view target) {
  send("GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

bool RawClient::receive_some() {
  std::array<char, 65'536> chunk{};
  const ssize_t count = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) ADD_FAILURE() << "no answer in 30 s";
  if (count <= 0) return false;
  pending_.append(chunk.data(), static_cast<std::size_t>(count));
  return true;
}

RawAnswer RawClient::receive(bool without_body) {
  std::size_t end = 0;
  while ((end = pending_.find("\r\n\r\n")) == std::string::npos) {
    if (!receive_some()) return {};
  }
  RawAnswer answer;
  answer.head = pending_.substr(0, end + 2);
  pending_.erase(0, end + 4);
  answer.status = std::stoi(answer.head.substr(9, 3));
  const std::size_t length = answer.head.find("\r\nContent-Length: ");
  if (without_body || length == std::string::npos) return answer;
  const std::size_t bytes = std::stoul(answer.head.substr(length + 18));
  while (pending_.size() < bytes) {
    if (!receive_some()) return {};
  }
  answer.body = pending_.substr(0, bytes);
  pending_.erase(0, bytes);
  return answer;
}

bool RawClient::is_ended() { return pending_.empty() && !receive_some(); }

void RawClient::reset() {
  const linger at_once{1, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  socket_.close();
}

}  // namespace bet::test
